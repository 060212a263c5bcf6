import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openLink } from '../../chaos/network.ts'
import { openOwnPlatform } from '../../support/own-platform.ts'
import { serveSite } from '../serve-site.ts'
import { openFirefox } from './firefox.ts'
import { openWalks } from './walks.ts'
import { openWebKit } from './webkit.ts'

/**
 * `npm run browsers`: the web chat and the console in Firefox and in WebKit, as far as these are installed and the tests,
 * which run in Chromium, cannot show it.
 */
async function main(): Promise<void> {
  await using parts = new AsyncDisposableStack()
  const directory = await mkdtemp(join(tmpdir(), 'isobot-browsers-'))
  parts.defer(() => rm(directory, { recursive: true, force: true, maxRetries: 5 }))
  const platform = await openOwnPlatform(directory, parts)
  const link = parts.use(await openLink(() => Number(new URL(platform.url).port)))
  const site = parts.use(await serveSite(`http://localhost:${link.port}`))
  const walks = await openWalks(platform, link, site)
  for (const [open, remedy] of [
    [openFirefox, 'No Firefox: apt-get install firefox-esr'],
    [openWebKit, 'No WebKit: apt-get install webkit2gtk-driver xvfb, and run it by xvfb-run'],
  ] as const) {
    await using page = await open()
    if (!page) console.log(remedy)
    for (const [title, walk] of page ? Object.entries(walks) : []) {
      link.mend()
      try {
        await walk(page!)
        console.log(`${page!.name}: ${title}`)
      } catch (error) {
        process.exitCode = 1
        console.error(`${page!.name} FAILED: ${title}\n`, error)
      }
    }
  }
}

await main()
process.exit()
