// The program of `npm start`. Plain JavaScript, so that the modules that it loads come from the compile cache, typed ones too.
import { enableCompileCache } from '../shared/process/compile-cache.js'
import { refusesNode } from '../shared/process/needed-node.js'
import { resolveOwnModules } from '../shared/process/own-modules.js'

if (!refusesNode('cli/npm-start.js')) {
  enableCompileCache()
  resolveOwnModules()
  try {
    const given = process.argv.slice(2)
    if (given.length > 0) {
      const { runProgram } = await import('./program.ts')
      await runProgram(['start', ...given])
    } else {
      // Without the command line's parser, which takes time to load.
      const { start } = await import('./start.ts')
      await start()
    }
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    process.exitCode = 1
  }
}
