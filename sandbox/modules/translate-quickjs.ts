import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { transform } from 'esbuild'

const run = promisify(execFile)

const published = '@jitl/quickjs-singlefile-browser-release-sync'
/** SHA-256 of its program in version 0.31.0. */
const programHash = '0c031dd404df00f2d1ed9491a6590d014e88a50424996e5fd70feff1c931c045'
const target = join(import.meta.dirname, 'quickjs-program.js')

/**
 * Writes `quickjs-program.js`: the program in WebAssembly of the published QuickJS, translated into JavaScript by binaryen.
 * Only another version of QuickJS needs it again: `npm run quickjs`.
 */
async function translateQuickJs(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'isobot-quickjs-'))
  try {
    const { program, license } = await readPublished()
    await writeFile(join(folder, 'quickjs.wasm'), program)
    const files = ['quickjs.wasm', '-O2', '-o', 'quickjs.js']
    await run('npx', ['--yes', '--package', 'binaryen@132.0.0', 'wasm2js', ...files], { cwd: folder })
    const { code } = await transform(toFunction(await readFile(join(folder, 'quickjs.js'), 'utf8')), { minify: true })
    await writeFile(target, `/*\nTranslated by \`npm run quickjs\` from ${published}:\n\n${license}*/\n${code}`)
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** Reads the program, which its package has in base64, and the licenses. */
async function readPublished(): Promise<{ program: Buffer; license: string }> {
  const entry = createRequire(import.meta.url).resolve(published)
  const loader = await readFile(join(dirname(entry), 'emscripten-module.browser.mjs'), 'utf8')
  const [, base64 = ''] = /octet-stream;base64,([\w+/=]+)/.exec(loader) ?? []
  const program = Buffer.from(base64, 'base64')
  const hash = createHash('sha256').update(program).digest('hex')
  if (hash !== programHash) throw new Error(`The program of ${published} has another hash: ${hash}`)
  return { program, license: await readFile(join(dirname(entry), '..', 'LICENSE'), 'utf8') }
}

/** The module that binaryen writes instantiates itself; of it only the function that does so is needed. */
function toFunction(module: string): string {
  const [body, ...rest] = module.replace(/^import \* as a from 'a';$/m, '').split(/^\s*var memasmFunc\b/m)
  if (rest.length !== 1) throw new Error('binaryen has written a module of another form')
  return `${body}\nexport const instantiate = asmFunc\n`
}

await translateQuickJs()
