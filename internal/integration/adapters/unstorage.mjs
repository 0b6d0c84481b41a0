// @auth/unstorage-adapter with unstorage's driver for Redis.
import { UnstorageAdapter } from '@auth/unstorage-adapter'
import { createStorage } from 'unstorage'
import driver from 'unstorage/drivers/redis'

export async function open({ url }) {
  const adapter = UnstorageAdapter(createStorage({ driver: driver({ url }) }))
  return { adapter, account: (provider, id) => adapter.getAccount(id, provider) }
}
