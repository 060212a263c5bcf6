import { startFloor } from '../floor/start.ts'
import { startIsobot } from '../isobot.ts'
import type { Round } from '../compare.ts'
import type { Pace } from '../load-process.ts'
import type { Options } from '../options.ts'
import type { Servers } from '../servers.ts'
import { startSide, type Side } from '../side.ts'
import type { System, SystemOptions } from '../system.ts'
import { startDbos } from './dbos.ts'
import { fetchPackages } from './packages.ts'
import { startRestate } from './restate.ts'

/** The sides, in the order of the table. */
export const peerNames = [
  'ours, Redis',
  'ours, PostgreSQL',
  'Restate',
  'DBOS',
  'floor, Redis',
  'floor, PostgreSQL',
] as const
export type PeerName = (typeof peerNames)[number]

/** By round; measurements that were made next to each other have the same index. */
export type PeerComparison = Record<PeerName, Round[]>

/** Shorter than that of the straight line, because six sides warm up. */
const firstWarmUpSeconds = 8
const warmUpSeconds = 0.5

/**
 * Measures durable engines, ours on both back ends, and both floors, in turn and in changing order. The sides that are
 * not measured are idle.
 *
 * @throws Error with the reason when the engines cannot be fetched
 */
export async function comparePeers(
  servers: Servers,
  { conversations, seconds, rounds }: Options,
  parts: AsyncDisposableStack,
): Promise<PeerComparison> {
  const packages = await fetchPackages()
  const starts: Record<PeerName, (options: SystemOptions) => Promise<System>> = {
    'ours, Redis': startIsobot,
    'ours, PostgreSQL': startIsobot,
    Restate: (options) => startRestate(packages, options),
    DBOS: (options) => startDbos(packages, options),
    'floor, Redis': startFloor,
    'floor, PostgreSQL': startFloor,
  }
  const sides = new Map<PeerName, Side>()
  for (const name of peerNames) {
    const backEnd = name.endsWith('Redis') ? 'redis' : 'postgres'
    sides.set(name, await startSide(name, starts[name], { servers, backEnd, conversations, nodeOptions: [], parts }))
  }

  const saturated: Pace = { inFlight: conversations, warmUpSeconds, seconds }
  const quiet: Pace = { inFlight: 1, warmUpSeconds, seconds: seconds / 2 }
  for (const side of sides.values()) await side.measure({ ...saturated, seconds: firstWarmUpSeconds })

  const comparison = Object.fromEntries(peerNames.map((name) => [name, [] as Round[]])) as PeerComparison
  for (let round = 0; round < rounds; round++) {
    for (const name of round % 2 === 0 ? peerNames : peerNames.toReversed()) {
      const side = sides.get(name)!
      comparison[name].push({ saturated: await side.measure(saturated), quiet: await side.measure(quiet) })
    }
  }
  return comparison
}
