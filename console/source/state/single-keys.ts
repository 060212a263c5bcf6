import { storedFlag } from './stored-flag.ts'

/**
 * Whether shortcuts of a single character are off: letters, `?` and `/`. People who speak to their computer, or press keys
 * by accident, need a way to turn them off (WCAG 2.1.4).
 */
export const hasSingleKeysOff = storedFlag('isobot.single-keys-off')
