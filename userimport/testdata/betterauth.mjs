// Writes betterauth_user and betterauth_account as .json and as .csv, the tables that Better Auth has
// after two sign-ups, with fixed ids, and auth0.jsonl, whose hashes bcryptjs makes in the
// form of Auth0. Salts are random.
//
//     npm install better-auth@1.7.25 bcryptjs@3.0.3 && node betterauth.mjs DIRECTORY
import { writeFileSync } from "node:fs";
import bcrypt from "bcryptjs";
import { betterAuth } from "better-auth";
import { memoryAdapter } from "better-auth/adapters/memory";
import { admin } from "better-auth/plugins";

const directory = process.argv[2];
const tables = { user: [], session: [], account: [], verification: [] };
const auth = betterAuth({
  baseURL: "http://localhost:3000",
  secret: "a secret of 32 characters or more",
  database: memoryAdapter(tables),
  emailAndPassword: { enabled: true },
  plugins: [admin()],
});
await auth.api.signUpEmail({ body: { email: "Ada@Example.com", password: "correct horse ﬁve", name: "Ada Lovelace" } });
await auth.api.signUpEmail({ body: { email: "grace@example.com", password: "correct horse battery", name: "Grace" } });

// What an operator and a sign-in with GitHub change.
const [ada, grace] = tables.user;
Object.assign(ada, { emailVerified: true, role: "admin,user" });
Object.assign(grace, { banned: true, banReason: "spam" });
tables.account.push({ ...tables.account[0], id: "github-account", providerId: "github", accountId: "583231", password: null });
const renamed = new Map([[ada.id, "BFk1"], [grace.id, "bGz2"]]);
const byUser = (key) => (a, b) => (a[key] < b[key] ? -1 : a[key] > b[key] ? 1 : 0);
for (const user of tables.user) user.id = renamed.get(user.id);
for (const account of tables.account) account.userId = renamed.get(account.userId);
const cell = (value) => (value === null || value === undefined ? "" : value instanceof Date ? value.toISOString() : `"${String(value).replaceAll('"', '""')}"`);
const write = (name, rows) => {
  writeFileSync(`${directory}/${name}.json`, `${JSON.stringify(rows, null, 1)}\n`);
  const columns = [...new Set(rows.flatMap(Object.keys))];
  const lines = [columns, ...rows.map((row) => columns.map((column) => row[column]))].map((line) => line.map(cell).join(","));
  writeFileSync(`${directory}/${name}.csv`, `${lines.join("\n")}\n`);
};
write("betterauth_user", tables.user.sort(byUser("id")));
write("betterauth_account", tables.account.sort(byUser("userId")));

const hash = (password) => bcrypt.hashSync(password, 10);
const auth0 = [
  // As the export of hashes has them.
  {
    _id: { $oid: "5dea9f9c82dd7c0e76e4ec93" }, email_verified: true, email: "Ada@Example.com", passwordHash: hash("lètmein"),
    password_set_date: { $date: "2019-12-06T18:36:12.412Z" }, tenant: "example", connection: "Username-Password-Authentication",
    _tmp_is_unique: true, identifiers: [{ type: "email", value: "Ada@Example.com", verified: true }],
  },
  // With the members of the export of users, too.
  {
    user_id: "auth0|grace", alt_id: "grace", email: "grace@example.com", email_verified: false, passwordHash: hash("correct horse battery"),
    name: "Grace", picture: "https://example.com/grace.png", created_at: "2020-01-02T03:04:05.678Z", blocked: true,
    identities: [
      { provider: "auth0", user_id: "grace", connection: "Username-Password-Authentication", isSocial: false },
      { provider: "google-oauth2", user_id: "110248495921238986420", connection: "google-oauth2", isSocial: true },
    ],
  },
  // The address in identifiers only.
  {
    _id: { $oid: "5dea9f9c82dd7c0e76e4ec94" }, passwordHash: hash("joan's password"), multifactor: ["guardian"],
    identifiers: [{ type: "email", value: "joan@example.com", verified: true }],
  },
];
writeFileSync(`${directory}/auth0.jsonl`, auth0.map((line) => `${JSON.stringify(line)}\n`).join(""));
