import { pino, type Logger } from 'pino'

export type { Logger }

/**
 * The process's logger: JSON lines on standard output.
 *
 * @param name which process speaks: `api`, `worker`
 * @param level pino's levels, or `silent`
 */
export function createLogger(name: string, level: string): Logger {
  return pino({
    name,
    level,
    redact: ['authorization', 'token', 'key', 'secret', '*.authorization', '*.token', '*.key', '*.secret'],
  })
}
