// Plain JavaScript that any Node since 14 can load.
import module from 'module'
import { dirname, join } from 'path'
import { fileURLToPath } from 'url'

/**
 * Has Node keep the modules that it compiles and strips of types for the next start of any process, which then takes
 * two thirds of the processor time. Only the owner of the code may write there: another user's cache would run in its
 * place. Without a folder that can be written, and where the environment names another one, this changes nothing.
 */
export function enableCompileCache() {
  const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..')
  module.enableCompileCache(join(root, 'node_modules', '.cache', 'node-compile'))
}
