import { execFile } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'

/** Pinned, so that the figures of different days do not differ by version. */
const packages = ['@restatedev/restate-server@1.7.12', '@restatedev/restate-sdk@1.17.2', '@dbos-inc/dbos-sdk@5.3.0']

/**
 * Fetches the durable engines. They are no dependencies, because they take 240 MB for one use: npx fetches them the
 * first time and caches them. Their install scripts, one of which reports to its publisher, do not run.
 *
 * @returns the folder of their packages
 * @throws Error with the reason when they are unavailable, for instance without a network
 */
export async function fetchPackages(): Promise<string> {
  const wanted = packages.flatMap((name) => ['--package', name])
  const parameters = ['--yes', '--ignore-scripts', '--fetch-retries=0', ...wanted]
  const print = 'console.log(process.env.PATH.split(require("node:path").delimiter)[0])'
  try {
    const { stdout } = await promisify(execFile)('npx', [...parameters, '--', process.execPath, '-e', print])
    return dirname(stdout.trim())
  } catch (error) {
    const { stderr } = error as { stderr?: string }
    const reason =
      stderr?.match(/^npm error (?!code|errno|syscall)(.+)$/m)?.[1] ?? (error as Error).message.split('\n')[0]
    throw new Error(`npx could not fetch ${packages.join(', ')}: ${reason}`, { cause: error })
  }
}

/** Imports a module of a fetched package. The type is the caller's, because the package is no dependency. */
export async function importPackage<Module>(folder: string, name: string): Promise<Module> {
  return (await import(pathToFileURL(createRequire(`${folder}/`).resolve(name)).href)) as Module
}
