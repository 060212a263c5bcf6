import { access, constants, mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, extname, join, relative } from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { build, type Rolldown } from 'vite'
import { consoleBrowsers, targetOf } from './browsers.ts'
import { bundleWidget } from './bundle-widget.ts'
import { hashFile, hashSources, isBuilt, outputDirectory, root } from './output.ts'
import { viteOptions } from './vite-options.ts'

/** Formats that gzip does not make smaller. */
const incompressible = new Set(['.woff2', '.png'])
const minCompressedBytes = 1024

/** Builds the console and the widget of web chats, unless their output is current. The output appears as a whole. */
async function buildConsole(): Promise<void> {
  if (await isBuilt()) return
  const startedAt = performance.now()
  // Detects a read-only folder before the build and not after it.
  await access(dirname(outputDirectory), constants.W_OK)
  const hash = await hashSources()
  const files = new Map<string, string | Uint8Array>([[hashFile, hash]])
  for (const file of await bundle()) files.set(file.fileName, file.type === 'chunk' ? file.code : file.source)
  for (const { name, content } of await bundleWidget()) files.set(`widget/${name}`, content)
  const unfinished = `${outputDirectory}-${process.pid}`
  try {
    await Promise.all([...files].map(([name, content]) => write(join(unfinished, name), Buffer.from(content))))
    await rm(outputDirectory, { recursive: true, force: true })
    await rename(unfinished, outputDirectory)
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true })
    // Another process may have built the same sources first.
    if (!(await isBuilt())) throw error
  }
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
  process.stdout.write(`The console is built: ${relative(root, outputDirectory)}, in ${seconds} s\n`)
}

async function bundle(): Promise<Rolldown.RolldownOutput['output']> {
  // Another value, as tests have it, makes a build for development, which is larger and has the paths of its sources.
  // oxlint-disable-next-line node/no-process-env
  process.env.NODE_ENV = 'production'
  const output = await build({
    ...viteOptions,
    build: {
      write: false,
      target: targetOf(consoleBrowsers),
      // Nothing is inlined: the policy of the pages allows no address but the server's own.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      // The editor's worker is the TypeScript compiler, and it is loaded only where code is edited.
      chunkSizeWarningLimit: 10_000,
      rolldownOptions: { checks: { bundlerTimings: false } },
    },
  })
  return (output as Rolldown.RolldownOutput).output
}

/** Writes a file and, where compression helps, a compressed copy, so that responses need no compression. */
async function write(path: string, content: Buffer): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, content)
  if (incompressible.has(extname(path)) || content.length < minCompressedBytes) return
  await writeFile(`${path}.gz`, await promisify(gzip)(content, { level: 9 }))
}

await buildConsole()
