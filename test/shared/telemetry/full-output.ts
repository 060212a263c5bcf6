/** A program of its own: logs lines until the first ones have been refused, and ends as the api and the worker do. */

import { setTimeout as pause } from 'node:timers/promises'
import { createLogger } from '#shared/telemetry/logger.ts'

const log = createLogger('full', 'info')
for (let turn = 0; turn < 10; turn++) {
  log.info('A line')
  await pause(10)
}
process.stderr.write('worked on')
process.exit()
