import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { inject } from 'vitest'
import { startSupervisor } from '../../cli/postgres/supervisor.ts'
import { findRedisBinary } from './redis-binary.ts'

export interface RedisServer {
  readonly url: string
  readonly pid: number
  stop(): Promise<void>
}

/**
 * Starts a Redis of the caller's own, which it may flush, stop and restart. It is empty at every start, and ends with
 * the calling process.
 *
 * @param port the port to listen on, for a restart at the address of an earlier server; a free port by default
 * @param isCluster whether it is a node of a cluster without slots
 */
export async function startRedis({ port = 0, isCluster = false } = {}): Promise<RedisServer> {
  const binary = await findRedisBinary()
  const directory = await mkdtemp(join(tmpdir(), 'isobot-redis-'))
  try {
    const script = join(import.meta.dirname, 'redis-process.ts')
    const keeper = await startSupervisor(
      [process.execPath, script, binary, directory, String(port), isCluster ? 'yes' : 'no'],
      { log: () => {} },
    )
    return { url: `redis://127.0.0.1:${keeper.port}`, pid: keeper.pid, stop: () => keeper.stop() }
  } catch (error) {
    await rm(directory, { recursive: true, force: true })
    throw error
  }
}

/** A part of the run's Redis that only one test file uses. */
export interface RedisSpace {
  readonly url: string
  /** Prefix of every key. */
  readonly prefix: string
  /** Removes all keys with the prefix. */
  clear(): Promise<void>
}

/** Makes a part of the run's Redis for one test file. The server may hold other data, so no test flushes it. */
export function createRedisSpace(): RedisSpace {
  const url = inject('redisUrl')
  const prefix = `${inject('templateDatabase')}:${randomBytes(6).toString('hex')}`
  return { url, prefix, clear: () => removeKeys(url, prefix) }
}

/** Removes all keys that begin with the prefix. */
export async function removeKeys(url: string, prefix: string): Promise<void> {
  const redis = new Redis(url)
  try {
    for await (const keys of redis.scanStream({ match: `${prefix}*`, count: 1_000 })) {
      if (keys.length > 0) await redis.unlink(keys)
    }
  } finally {
    redis.disconnect()
  }
}
