import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { pathToFileURL } from 'node:url'
import { runByNpx } from '../run-by-npx.ts'

const packages = ['@restatedev/restate-server@1.7.12', '@restatedev/restate-sdk@1.17.2', '@dbos-inc/dbos-sdk@5.3.0']

/**
 * Fetches the durable engines, which take 240 MB. Their install scripts, one of which reports to its publisher, do not run.
 *
 * @returns the folder of their packages
 * @throws Error as `runByNpx`
 */
export async function fetchPackages(): Promise<string> {
  const print = 'console.log(process.env.PATH.split(require("node:path").delimiter)[0])'
  return dirname(await runByNpx(packages, ['--ignore-scripts', '--', process.execPath, '-e', print]))
}

/** Imports a module of a fetched package. The type is the caller's, because the package is no dependency. */
export async function importPackage<Module>(folder: string, name: string): Promise<Module> {
  return (await import(pathToFileURL(createRequire(`${folder}/`).resolve(name)).href)) as Module
}
