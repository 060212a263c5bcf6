import { execFile } from 'node:child_process'
import { access, constants, rm, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/**
 * The Redis server that tests run: `redis-server` or `valkey-server` from the PATH. Where there is none it is
 * installed if that can be done without asking, which is as root with apt-get.
 */
export async function findRedisBinary(): Promise<string> {
  const found = await findOnPath()
  if (found) return found
  if (process.geteuid?.() !== 0 || !(await which('apt-get'))) {
    throw new Error(
      `The tests need a Redis server, and there is no redis-server or valkey-server on the PATH. ${remedy}`,
    )
  }
  try {
    await installRedis()
  } catch (error) {
    const { stderr = '', message } = error as Error & { stderr?: string }
    throw new Error(`The tests need a Redis server, and installing one failed. ${remedy}\n${stderr || message}`, {
      cause: error,
    })
  }
  const installed = await findOnPath()
  if (!installed) throw new Error(`Installing the package redis-server brought no redis-server. ${remedy}`)
  return installed
}

const remedy =
  'Install one ("sudo apt-get install redis-server", "brew install redis"), ' +
  'or set REDIS_URL to a server, for example: docker run --rm -p 6379:6379 redis:8 and REDIS_URL=redis://127.0.0.1:6379'

async function findOnPath(): Promise<string | undefined> {
  return (await which('redis-server')) ?? (await which('valkey-server'))
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

/** The tests start servers of their own: the system's service stays off. */
async function installRedis(): Promise<void> {
  const policy = '/usr/sbin/policy-rc.d'
  const forbidden = '#!/bin/sh\nexit 101\n'
  const isOurs = await writeFile(policy, forbidden, { mode: 0o755, flag: 'wx' }).then(
    () => true,
    () => false,
  )
  const apt = ['--yes', '-o', 'DPkg::Lock::Timeout=300']
  const environment = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  try {
    await run('apt-get', ['update'], { env: environment, maxBuffer: 16e6 })
    await run('apt-get', [...apt, '--no-install-recommends', 'install', 'redis-server'], {
      env: environment,
      maxBuffer: 16e6,
    })
  } finally {
    if (isOurs) await rm(policy, { force: true })
  }
}
