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
 * Starts a Redis of the caller's own, which it may flush, stop and start again. It is empty at every start, and it ends
 * when the calling process does.
 *
 * @param port where to listen, to start again where an earlier server was; a free port unless given
 */
export async function startRedis({ port }: { port?: number } = {}): Promise<RedisServer> {
  const binary = await findRedisBinary()
  const directory = await mkdtemp(join(tmpdir(), 'isobot-redis-'))
  try {
    const script = join(import.meta.dirname, 'redis-process.ts')
    const keeper = await startSupervisor(
      [process.execPath, script, binary, directory, ...(port === undefined ? [] : [String(port)])],
      { log: () => {} },
    )
    return { url: `redis://127.0.0.1:${keeper.port}`, pid: keeper.pid, stop: () => keeper.stop() }
  } catch (error) {
    await rm(directory, { recursive: true, force: true })
    throw error
  }
}

/** A part of the run's Redis that nobody else touches. */
export interface RedisSpace {
  readonly url: string
  /** What every key begins with. */
  readonly prefix: string
  /** Removes all keys with the prefix. */
  clear(): Promise<void>
}

/** Makes a part of the run's Redis for one test file. The server may be somebody's, so nothing ever flushes it. */
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
