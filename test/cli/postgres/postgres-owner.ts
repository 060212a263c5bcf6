import { startEmbeddedPostgres } from '../../../cli/postgres/embedded-postgres.ts'

// A process that starts an embedded PostgreSQL and then lives until it is killed. It heeds no Ctrl-C.
const [directory, temporary] = process.argv.slice(2) as [string, string?]
process.on('SIGINT', () => process.stdout.write('interrupted\n'))
const { url, pid } = await startEmbeddedPostgres({ directory, temporary: temporary === 'temporary', log: () => {} })
process.stdout.write(`${JSON.stringify({ url, pid })}\n`)
