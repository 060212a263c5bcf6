import { chromium, type Browser } from 'playwright-core'
import { findSystemProgram } from '../support/system-package.ts'

/** Flags for a fast browser without a display; for root, Chromium does not start inside its own sandbox. */
const flags = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

interface ChromiumOptions {
  /** Whether it needs what the headless shell has not, such as notifications. */
  isWhole?: boolean
  /** Further arguments of its command line. */
  browserArguments?: string[]
}

/**
 * Starts the system's Chromium with a new and empty profile. It ends when it is closed, or when this process ends.
 *
 * @throws Error that says how to get a Chromium when there is none
 */
export async function launchChromium({
  isWhole = false,
  browserArguments = [],
}: ChromiumOptions = {}): Promise<Browser> {
  // In the locale C, the headless shell has a language that no formatter accepts: `en-US@posix`.
  const env = { ...process.env, LC_ALL: 'en_US.UTF-8' }
  return chromium.launch({ executablePath: await findChromium(isWhole), args: [...flags, ...browserArguments], env })
}

/**
 * The one that `CHROMIUM_PATH` names, or the system's, which is installed where that can be done without asking. The
 * headless shell comes first: it has no windows, toolbars and extensions, and takes half of the processor time for a page.
 */
async function findChromium(isWhole: boolean): Promise<string> {
  const shells = isWhole ? [] : ['chromium-headless-shell']
  return (
    process.env.CHROMIUM_PATH ||
    findSystemProgram({
      what: 'a Chromium',
      names: [...shells, 'chromium', 'chromium-browser', 'google-chrome'],
      aptPackages: isWhole ? ['chromium'] : ['chromium-headless-shell', 'chromium'],
      remedy:
        'Install one ("sudo apt-get install chromium", "brew install --cask chromium"), ' +
        'or set CHROMIUM_PATH to the executable of a Chromium or Chrome',
    })
  )
}
