import { existsSync } from 'node:fs'
import { misused } from './failure.ts'

/** The file that is read where none is named. */
export const usualVariables = '.env'

/** Reads the platform's variables from a file, for a command of operators; those of the environment take precedence. */
export function loadVariables(file: string | undefined): void {
  if (file === undefined && !existsSync(usualVariables)) return
  try {
    process.loadEnvFile(file ?? usualVariables)
  } catch (error) {
    const words = error instanceof Error ? error.message : String(error)
    throw misused(`${file ?? usualVariables} cannot be read: ${words}`, { cause: error })
  }
}
