import { runByNpx } from '../run-by-npx.ts'

/**
 * Finds the executable of Deno, which takes 100 MB.
 *
 * @throws Error as `runByNpx`
 */
export function findDeno(): Promise<string> {
  return runByNpx(['deno@2.9.6'], ['--', 'deno', 'eval', 'console.log(Deno.execPath())'])
}
