import { execFile } from 'node:child_process'
import { mkdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { parseArgs, promisify } from 'node:util'
import { publishedPackages } from './packages.ts'
import { stagePackage } from './stage-package.ts'

const run = promisify(execFile)
const root = resolve(import.meta.dirname, '..', '..')

interface Packed {
  filename: string
  size: number
  unpackedSize: number
  entryCount: number
}

/** `npm run package`: writes the packages to be published, and packs each, into `dist` or the folder of `--output`. */
async function main(): Promise<void> {
  const { values } = parseArgs({ options: { output: { type: 'string', default: join(root, 'dist') } } })
  const output = resolve(values.output)
  await mkdir(output, { recursive: true })
  await run(process.execPath, [join('api', 'console', 'build.ts')], { cwd: root })
  for (const described of publishedPackages) {
    const folder = join(output, described.folder)
    await stagePackage(root, described, folder)
    const packing = ['pack', folder, '--json', '--pack-destination', output, '--ignore-scripts']
    const { stdout } = await run('npm', packing, { cwd: output, maxBuffer: 64 * 1024 * 1024 })
    const [packed] = Object.values(JSON.parse(stdout) as Record<string, Packed>)
    const { filename, size, unpackedSize, entryCount } = packed!
    console.log(
      `${join(output, filename)}: ${megabytes(size)}, ${megabytes(unpackedSize)} unpacked, ${entryCount} files`,
    )
  }
}

function megabytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`
}

await main()
