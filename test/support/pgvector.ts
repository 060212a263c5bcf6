import { PGlite } from '@electric-sql/pglite'
import { btree_gin } from '@electric-sql/pglite/contrib/btree_gin'
import { pg_trgm } from '@electric-sql/pglite/contrib/pg_trgm'
import { vector } from '@electric-sql/pglite-pgvector'
import { PGLiteSocketServer } from '@electric-sql/pglite-socket'
import knex from 'knex'
import { migrateTo, migrations } from '../../migrations/migrations.ts'
import type { TestDatabase } from './databases.ts'

/** Makes a database with all tables on a server that has pgvector: PostgreSQL in WebAssembly, behind its protocol. */
export async function createDatabaseWithPgvector(): Promise<TestDatabase> {
  const server = await PGlite.create({ extensions: { vector, pg_trgm, btree_gin } })
  const socket = new PGLiteSocketServer({ db: server, port: 0, host: '127.0.0.1', maxConnections: 10 })
  await socket.start()
  const url = `postgres://postgres:postgres@${socket.getServerConn()}/postgres`
  // The server has one session: the release step would wait for its own lock.
  const db = knex({ client: 'pg', connection: url, pool: { min: 0, max: 1 } })
  await db.transaction((transaction) => migrateTo(transaction, Object.keys(migrations)))
  await db.destroy()
  return {
    url,
    async drop() {
      await socket.stop()
      await server.close()
    },
  }
}
