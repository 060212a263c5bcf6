import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { openBundler } from '../../../../cli/project/bundle.ts'

/** Bundles a bot of this folder with its library, as `isobot deploy` does. @param defined constants of the bot */
export async function bundleModelBot(
  name: string,
  defined: { providerUrl: string; hearsOneWord?: boolean },
): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'isobot-models-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const bot = JSON.stringify(join(import.meta.dirname, `${name}.ts`))
  const constants = JSON.stringify({ hearsOneWord: false, ...defined })
  await writeFile(join(folder, 'settings.ts'), `Object.assign(globalThis, ${constants})`)
  await writeFile(join(folder, 'index.ts'), `import './settings.ts'\nexport { hooks } from ${bot}`)
  await using bundler = await openBundler({ folder, entry: 'index.ts', settings: { name } })
  const bundled = await bundler.bundle()
  if ('problems' in bundled) throw new Error(JSON.stringify(bundled.problems))
  return bundled.bundle.code
}
