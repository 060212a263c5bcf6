/** The streams of the web, which bodies and blobs provide too. */

import * as streams from 'web-streams-polyfill'
import type { Prelude } from '../../isolate/platform.ts'
import { defineGlobals } from '../globals.ts'
import { createTextStreams } from '../text-streams.ts'

/** Defines the globals. */
export const install: Prelude = () => {
  defineGlobals({ ...streams, ...createTextStreams() })
  return undefined
}
