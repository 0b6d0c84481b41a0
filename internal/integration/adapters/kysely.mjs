// @auth/kysely-adapter, with the tables of the migration in its documentation,
// and of its tests where that is for another database.
import { KyselyAdapter } from '@auth/kysely-adapter'
import { CamelCasePlugin, Kysely, MysqlDialect, PostgresDialect, SqliteDialect, sql } from 'kysely'
import Database from 'libsql'
import { createPool } from 'mysql2'
import pg from 'pg'

const kinds = {
  postgresql: {
    dialect: (url) => new PostgresDialect({ pool: new pg.Pool({ connectionString: url }) }),
    id: 'uuid',
    made: sql`gen_random_uuid()`,
    text: 'text',
    long: 'text',
    time: 'timestamptz',
    indexed: true,
  },
  mysql: {
    // Columns of the type DATETIME have no zone, so the application sets it.
    dialect: (url) => new MysqlDialect({ pool: createPool({ uri: url, timezone: 'Z' }) }),
    id: 'varchar(36)',
    made: sql`(UUID())`,
    text: 'varchar(255)',
    long: 'text',
    time: sql`DATETIME(3)`,
  },
  sqlite: {
    dialect: (url) => new SqliteDialect({ database: new Database(url, { timeout: 5000 }) }),
    id: 'varchar',
    made: sql`(lower(hex(randomblob(16))))`,
    text: 'text',
    long: 'text',
    time: 'text',
    indexed: true,
  },
}

async function migrate(db, { id, made, text, long, time, indexed }) {
  const key = (column) => column.primaryKey().defaultTo(made)
  const required = (column) => column.notNull()
  const references = (name, table) => table.addForeignKeyConstraint(name, ['userId'], 'User', ['id'], (constraint) => constraint.onDelete('cascade'))
  await db.schema
    .createTable('User')
    .addColumn('id', id, key)
    .addColumn('name', text)
    .addColumn('email', text, (column) => column.unique().notNull())
    .addColumn('emailVerified', time)
    .addColumn('image', text)
    .execute()
  await references(
    'Account_userId',
    db.schema
      .createTable('Account')
      .addColumn('id', id, key)
      .addColumn('userId', id, required)
      .addColumn('type', text, required)
      .addColumn('provider', text, required)
      .addColumn('providerAccountId', text, required)
      .addColumn('refresh_token', long)
      .addColumn('access_token', long)
      .addColumn('expires_at', 'bigint')
      .addColumn('token_type', text)
      .addColumn('scope', text)
      .addColumn('id_token', long)
      .addColumn('session_state', text),
  ).execute()
  await references(
    'Session_userId',
    db.schema
      .createTable('Session')
      .addColumn('id', id, key)
      .addColumn('userId', id, required)
      .addColumn('sessionToken', text, (column) => column.notNull().unique())
      .addColumn('expires', time, required),
  ).execute()
  await db.schema
    .createTable('VerificationToken')
    .addColumn('identifier', text, required)
    .addColumn('token', text, (column) => column.notNull().unique())
    .addColumn('expires', time, required)
    .execute()
  if (!indexed) return
  await db.schema.createIndex('Account_userId_index').on('Account').column('userId').execute()
  await db.schema.createIndex('Session_userId_index').on('Session').column('userId').execute()
}

// The names of the migration as the plugin converts them, and those it reads.
const snakeCase = {
  plugins: [new CamelCasePlugin()],
  async account(db, provider, id) {
    const { rows } = await sql`SELECT * FROM account WHERE provider = ${provider} AND provider_account_id = ${id}`.execute(db.withoutPlugins())
    const { user_id: userId, provider_account_id: providerAccountId, ...others } = rows[0]
    return { userId, providerAccountId, ...others }
  },
}

const asIs = {
  plugins: [],
  account: (db, provider, id) => db.selectFrom('Account').selectAll().where('provider', '=', provider).where('providerAccountId', '=', id).executeTakeFirst(),
}

export async function open({ dialect, url, variant }) {
  const kind = kinds[dialect]
  const { plugins, account } = variant === 'snake case' ? snakeCase : asIs
  const db = new Kysely({ dialect: kind.dialect(url), plugins })
  await migrate(db, kind)
  return { adapter: KyselyAdapter(db), account: (provider, id) => account(db, provider, id) }
}
