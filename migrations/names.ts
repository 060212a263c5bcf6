import { readdirSync } from 'node:fs'

/** The names of the migrations of this code, sorted, without loading them: api and worker compare them at each start. */
export const migrationNames: readonly string[] = readdirSync(import.meta.dirname)
  .filter((file) => /^\d{3}_/.test(file))
  .map((file) => file.slice(0, file.lastIndexOf('.')))
  .toSorted()
