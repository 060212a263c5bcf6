import type { Command } from 'commander'
import type { Connection } from './connection.ts'
import { openOutput, type Output } from './output.ts'

/** The options that every command takes. */
export interface CommonOptions {
  json: boolean
  verbose: boolean
  profile?: string
}

/** The context of a command: output and connection. */
export interface Tools {
  readonly options: CommonOptions
  readonly output: Output
  /** Opens a connection to the platform of the chosen profile. @param profile in place of the default one */
  connect(profile?: string): Promise<Connection>
}

/** The tools of a running command, according to its common options. */
export function toolsOf(command: Command): Tools {
  const options = commonOptionsOf(command)
  return {
    options,
    output: openOutput(options.json),
    async connect(profile) {
      const [{ chooseProfile }, { connect }] = await Promise.all([import('./profiles.ts'), import('./connection.ts')])
      return connect(await chooseProfile(options.profile ?? profile))
    },
  }
}

export function commonOptionsOf(command: Command): CommonOptions {
  const { json = false, verbose = false, profile } = command.optsWithGlobals<Partial<CommonOptions>>()
  return { json, verbose, ...(profile !== undefined && { profile }) }
}
