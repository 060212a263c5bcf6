import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { build, type BuildFailure, type Plugin } from 'esbuild'

const inside = join(import.meta.dirname, 'inside')
const patienceMilliseconds = 1500

/** The modules of Node's `test/common` and the test runner, from `inside/common.cjs`. */
const ownModules: Record<string, string> = {
  common: 'common',
  index: 'common',
  crypto: 'crypto',
  countdown: 'Countdown',
  test: 'test',
}

/**
 * Makes a program of one of Node's tests whose function `handler` runs it and answers with its first problem. The same program
 * runs in isolates and in Node.
 *
 * @throws Error with the reason for which no program can be made of it
 */
export async function wrapTest(path: string): Promise<string> {
  const contents = `
    const { run } = require(${JSON.stringify(join(inside, 'common.cjs'))})
    exports.handler = async () => {
      const told = await run(() => require(${JSON.stringify(path)}), ${patienceMilliseconds})
      return { status: 200, body: JSON.stringify(told) }
    }`
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: dirname(path) },
    bundle: true,
    write: false,
    platform: 'node',
    format: 'cjs',
    target: 'node24',
    logLevel: 'silent',
    inject: [join(inside, 'process.js')],
    define: {
      __filename: JSON.stringify(`/${basename(path)}`),
      __dirname: '"/"',
      'import.meta.url': '"file:///test.mjs"',
    },
    plugins: [ownCommon(dirname(path))],
  }).catch((error: BuildFailure) => {
    throw new Error(error.errors[0]?.text ?? error.message)
  })
  return outputFiles[0]!.text
}

function ownCommon(folder: string): Plugin {
  return {
    name: 'common',
    setup(build) {
      build.onResolve({ filter: /\/common(?:\/[\w-]+)?(?:\.m?js)?$/ }, ({ path }) => ({
        path: basename(path).replace(/\.m?js$/, ''),
        namespace: 'common',
      }))
      build.onResolve({ filter: /^(?:node:)?test$/ }, () => ({ path: 'test', namespace: 'common' }))
      build.onLoad({ filter: /.*/, namespace: 'common' }, async ({ path }) => {
        if (path === 'fixtures') return { contents: await fixtures(folder) }
        if (path === 'tick') return { contents: ticks }
        const name = ownModules[path]
        if (!name) return { errors: [{ text: `needs test/common/${path}` }] }
        return { contents: `module.exports = require('./common.cjs').${name}`, resolveDir: inside }
      })
    },
  }
}

const ticks = `module.exports = (count, callback) => {
  const tick = () => (--count === 0 ? callback?.() : setImmediate(tick))
  setImmediate(tick)
}`

/** The keys among the fixtures, as text. */
async function fixtures(folder: string): Promise<string> {
  const keys = join(folder, '..', 'fixtures', 'keys')
  const names = existsSync(keys)
    ? (await import('node:fs')).readdirSync(keys).filter((name) => name.endsWith('.pem'))
    : []
  const texts: Record<string, string> = {}
  for (const name of names) texts[name] = await readFile(join(keys, name), 'utf8')
  return `const texts = ${JSON.stringify(texts)}
    exports.readKey = (name, encoding) => {
      if (!Object.hasOwn(texts, name)) throw new Error('needs the fixture ' + name)
      return encoding ? texts[name] : Buffer.from(texts[name])
    }
    exports.readSync = exports.path = () => { throw new Error('needs files') }`
}
