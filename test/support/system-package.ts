import { execFile } from 'node:child_process'
import { access, constants, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** A program that tests run and that is not an npm package. */
export interface SystemProgram {
  /** Its description, in the middle of a sentence: `a Redis server`. */
  what: string
  /** Its possible names on the PATH; the first one found is used. */
  names: string[]
  /** The packages that contain it on Debian and its derivatives; the first one that can be installed is. */
  aptPackages: [string, ...string[]]
  /** How to install it by hand, in sentences. */
  remedy: string
}

/**
 * Finds a program on the PATH. A missing one is installed where that is possible without a prompt: as root, with
 * apt-get.
 *
 * @returns the path of the executable
 * @throws Error with the missing program and the way to install it
 */
export async function findSystemProgram(program: SystemProgram): Promise<string> {
  const { what, names, aptPackages, remedy } = program
  const found = await findOnPath(names)
  if (found) return found
  if (process.geteuid?.() !== 0 || !(await which('apt-get'))) {
    throw new Error(`The tests need ${what}, and there is no ${names.join(' or ')} on the PATH. ${remedy}`)
  }
  try {
    await install(aptPackages)
  } catch (error) {
    const { stderr = '', message } = error as Error & { stderr?: string }
    throw new Error(`The tests need ${what}, and installing one failed. ${remedy}\n${stderr || message}`, {
      cause: error,
    })
  }
  const installed = await findOnPath(names)
  if (!installed)
    throw new Error(`Installing the package ${aptPackages.join(' or ')} brought no ${names.join(' or ')}. ${remedy}`)
  return installed
}

/** @returns the path of the first of these programs that is on the PATH */
export async function findOnPath(names: string[]): Promise<string | undefined> {
  for (const name of names) {
    const path = await which(name)
    if (path) return path
  }
  return undefined
}

async function which(program: string): Promise<string | undefined> {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    const path = join(folder, program)
    if (await isExecutable(path)) return path
  }
  return undefined
}

async function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  )
}

/** Prevents the package from starting its service: tests start their own. */
async function install(aptPackages: string[]): Promise<void> {
  const policy = '/usr/sbin/policy-rc.d'
  const forbidden = '#!/bin/sh\nexit 101\n'
  const isOurs = await writeFile(policy, forbidden, { mode: 0o755, flag: 'wx' }).then(
    () => true,
    () => false,
  )
  const apt = ['--yes', '-o', 'DPkg::Lock::Timeout=300']
  const options = { env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }, maxBuffer: 16e6 }
  try {
    // Several test processes may miss the same program; `apt-get update` fails while another one runs.
    const lock = join(tmpdir(), 'isobot-apt-get.lock')
    await run('flock', [lock, 'apt-get', 'update'], options)
    const failures: unknown[] = []
    for (const aptPackage of aptPackages) {
      const words = [lock, 'apt-get', ...apt, '--no-install-recommends', 'install', aptPackage]
      const failure = await run('flock', words, options).then(
        () => undefined,
        (error: unknown) => error,
      )
      if (failure === undefined) return
      failures.push(failure)
    }
    throw failures[0]
  } finally {
    if (isOurs) await rm(policy, { force: true })
  }
}
