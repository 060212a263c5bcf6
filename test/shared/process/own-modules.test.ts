import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '..', '..', '..')

/** The modules that a program loads, each as often as it is loaded, with own modules resolved by the hook or by Node. */
async function loaded(program: string, isHooked: boolean): Promise<string[]> {
  const script = `
    import { registerHooks } from 'node:module'
    const urls = []
    registerHooks({ load: (url, context, next) => (urls.push(url), next(url, context)) })
    if (${isHooked}) (await import('${join(root, 'shared/process/own-modules.js')}')).resolveOwnModules()
    await import('${program}')
    console.log(JSON.stringify(urls))`
  const parameters = ['--input-type=module', '--eval', script]
  const { stdout } = await promisify(execFile)(process.execPath, parameters, { maxBuffer: 64 * 1024 * 1024 })
  const others = pathToFileURL(join(root, 'shared/process/own-modules.js')).href
  return (JSON.parse(stdout) as string[]).filter((url) => url !== others && !url.startsWith('node:')).toSorted()
}

test.each(['api/server.ts', 'worker/worker.ts'])(
  '%s loads the modules that it loads by Node, each once',
  async (name) => {
    const program = join(root, name)
    const [hooked, usual] = await Promise.all([loaded(program, true), loaded(program, false)])
    expect(hooked.filter((url) => url.endsWith('.ts')).length).toBeGreaterThan(300)
    expect(hooked).toEqual(usual)
  },
)

test('imports of modules elsewhere are left to Node', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'isobot-modules-'))
  try {
    const imports = { '#shared/named.ts': './named.js' }
    await writeFile(join(folder, 'package.json'), JSON.stringify({ type: 'module', imports }))
    await writeFile(join(folder, 'named.js'), 'export const name = "elsewhere"')
    await writeFile(join(folder, 'main.js'), `import { name } from '#shared/named.ts'\nconsole.error(name)`)
    expect(await loaded(join(folder, 'main.js'), true)).toEqual(
      ['main.js', 'named.js'].map((file) => pathToFileURL(join(folder, file)).href),
    )
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})
