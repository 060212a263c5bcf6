import type { Context } from '../context.ts'

/** Readiness probes of platforms time out after a few seconds. */
const checkMilliseconds = 1500

/** The body of `/readyz`: `unavailable` where a dependency, by its name, is. */
export interface Readiness {
  status: 'ok' | 'unavailable'
  [dependency: string]: 'ok' | 'unavailable'
}

/** Checks each dependency of the process, which takes at most 1.5 s. */
export async function readReadiness({ dependencies }: Context): Promise<Readiness> {
  const checks = await Promise.all(dependencies.all.map((dependency) => dependency.check(checkMilliseconds)))
  return {
    status: checks.every(Boolean) ? 'ok' : 'unavailable',
    ...Object.fromEntries(dependencies.all.map(({ name }, index) => [name, checks[index] ? 'ok' : 'unavailable'])),
  }
}
