import { findSystemProgram } from './system-package.ts'

/** Finds the Redis server for tests: the system's, which is installed where that is possible without a prompt. */
export async function findRedisBinary(): Promise<string> {
  return findSystemProgram({
    what: 'a Redis server',
    names: ['redis-server', 'valkey-server'],
    aptPackages: ['redis-server'],
    remedy:
      'Install one ("sudo apt-get install redis-server", "brew install redis"), ' +
      'or set REDIS_URL to a server, for example: docker run --rm -p 6379:6379 redis:8 and REDIS_URL=redis://127.0.0.1:6379',
  })
}
