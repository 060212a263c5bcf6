import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Client } from 'pg'
import { inject } from 'vitest'
import { isBuilt, root } from '../../api/console/output.ts'

/** A build takes seconds on an idle machine, and happens once for each state of the sources. */
export const building = 180_000

/** An arbitrary key of an advisory lock. */
const lockKey = 2_711_940

/** Builds the console for the tests that need it: test files in other processes wait, and find it built. */
export async function buildConsole(): Promise<void> {
  if (await isBuilt()) return
  const session = new Client({ connectionString: inject('databaseUrl') })
  await session.connect()
  try {
    await session.query(`select pg_advisory_lock(${lockKey})`)
    await promisify(execFile)(process.execPath, [join(root, 'api', 'console', 'build.ts')])
  } finally {
    await session.end()
  }
}
