import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { extname, join, relative } from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { build } from 'vite'
import { takeTurn } from './build-lock.ts'
import { currentOutput, isBuilt, outputDirectory, root } from './output.ts'

/** What is not smaller when it is compressed, or is too small to be worth it. */
const incompressible = new Set(['.woff2', '.png', '.gz'])
const leastCompressed = 1024

/**
 * Builds the pages of the console, unless they are there already. Several processes may do so at once: one builds, the
 * others wait for it. They appear as a whole or not at all.
 */
async function buildConsole(): Promise<void> {
  const output = await currentOutput()
  await mkdir(outputDirectory, { recursive: true })
  const turn = await takeTurn(join(outputDirectory, 'building'))
  try {
    if (!isBuilt(output)) await buildInto(output)
  } finally {
    await turn[Symbol.asyncDispose]()
  }
}

async function buildInto(output: string): Promise<void> {
  const began = performance.now()
  const unfinished = `${output}.unfinished`
  await rm(unfinished, { recursive: true, force: true })
  await bundle(unfinished)
  await compress(unfinished)
  await rename(unfinished, output)
  await removeOthers(output)
  const seconds = ((performance.now() - began) / 1000).toFixed(1)
  process.stdout.write(`The console is built: ${relative(root, output)}, in ${seconds} s\n`)
}

async function bundle(outDir: string): Promise<void> {
  await build({
    root: join(root, 'console'),
    base: '/console/',
    configFile: false,
    envDir: false,
    publicDir: false,
    logLevel: 'warn',
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
    worker: { format: 'es' },
    build: {
      outDir,
      emptyOutDir: true,
      target: 'es2023',
      // Nothing is inlined: the policy of the pages allows no address but the server's own.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      // The editor's worker is the TypeScript compiler, and it is loaded only where code is edited.
      chunkSizeWarningLimit: 10_000,
      reportCompressedSize: false,
      // A library of the published client mentions `eval`, which the policy of the pages forbids and nothing needs.
      rolldownOptions: { checks: { eval: false, bundlerTimings: false } },
    },
  })
}

/** Puts a compressed copy beside each file, once, so that none is compressed for each visitor. */
async function compress(directory: string): Promise<void> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile() && !incompressible.has(extname(entry.name)))
  await Promise.all(
    files.map(async ({ parentPath, name }) => {
      const path = join(parentPath, name)
      const content = await readFile(path)
      if (content.length < leastCompressed) return
      await writeFile(`${path}.gz`, await promisify(gzip)(content, { level: 9 }))
    }),
  )
}

/** Former output goes. Whoever has a page of it open is asked to load it again. */
async function removeOthers(output: string): Promise<void> {
  const names = await readdir(outputDirectory)
  const others = names.map((name) => join(outputDirectory, name)).filter((path) => path !== output)
  const former = others.filter((path) => !path.endsWith('building'))
  await Promise.all(former.map((path) => rm(path, { recursive: true, force: true })))
}

await buildConsole()
