/** A program of its own: logs which isolation layers it finds, or why it would not start with those that are required of it. */

import { detectIsolation } from '#sandbox/isolation/detect-isolation.ts'
import type { IsolationLayer } from '#sandbox/isolation/names.ts'

const require = process.argv.slice(2) as IsolationLayer[]
try {
  await detectIsolation({
    profile: 'hardened',
    require,
    log: (level, message, details) => process.stdout.write(JSON.stringify({ level, message, ...details })),
  })
} catch (error) {
  process.stderr.write(String(error))
  process.exitCode = 1
}
