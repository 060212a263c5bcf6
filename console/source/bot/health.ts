import type { Tone } from '../parts/status.tsx'

/** The share of failed events from which a bot counts as failing. */
const failingRate = 0.05
const oldMilliseconds = 60_000

interface Signs {
  disabledReason?: string
  versionId?: string
  errorRate: number | null
  waiting: number
  oldestWaitingAt?: string
  lastEventAt?: string
}

/** The health of a bot as a word with a tone. */
export function healthOf(signs: Signs): { tone: Tone; word: string } {
  if (signs.disabledReason !== undefined) return { tone: 'bad', word: 'Disabled' }
  if (signs.versionId === undefined) return { tone: 'quiet', word: 'No code yet' }
  if (signs.errorRate !== null && signs.errorRate >= failingRate) return { tone: 'bad', word: 'Failing' }
  const isBehind =
    signs.oldestWaitingAt !== undefined && Date.now() - Date.parse(signs.oldestWaitingAt) > oldMilliseconds
  if (isBehind) return { tone: 'warn', word: 'Behind' }
  if (signs.lastEventAt === undefined || signs.errorRate === null) return { tone: 'quiet', word: 'Quiet' }
  return { tone: 'good', word: 'Healthy' }
}
