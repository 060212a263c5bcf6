import type { FetchFailure, Limits } from './contract.ts'

/** The refusal of a connection beyond the limit. Node has this code where a process may open no further one. */
export function tooManyConnections({ connectionsAtOnce }: Pick<Limits, 'connectionsAtOnce'>): FetchFailure {
  const message =
    `An event may have at most ${connectionsAtOnce} open connections (EMFILE): close others before, give a pool a ` +
    'smaller maximum, or raise limits.connectionsAtOnce of the bot'
  return { failure: 'connections', message }
}
