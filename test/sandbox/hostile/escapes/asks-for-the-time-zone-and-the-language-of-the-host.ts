import { hostile } from '../hostile.ts'

export default hostile({
  body: `
    const { timeZone, locale } = new Intl.DateTimeFormat().resolvedOptions()
    await say(timeZone.includes('Chatham') || new Date(0).getTimezoneOffset() === -765)
    await say([locale, new Intl.NumberFormat().resolvedOptions().locale, new Intl.Collator().resolvedOptions().locale].some((name) => name.startsWith('de')))
    await say(new Date(0).toLocaleString('de-AT', { timeZone: 'Pacific/Chatham' }))`,
  outcome: 'done',
  replies: ['false', 'false', '1.1.1970, 12:45:00'],
})
