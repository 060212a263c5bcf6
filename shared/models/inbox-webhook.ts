import { closedObject } from '../schema.ts'

/** Upper bound of the news of a webhook that are counted. */
export const maxCountedNews = 1000

/** The webhook of a workspace's inbox, without its secret. */
export const inboxWebhook = closedObject({
  url: { type: 'string', maxLength: 2000, pattern: '^https?://' },
  hasSecret: { type: 'boolean', description: 'Whether requests have a secret, as the header x-secret-key.' },
  failures: { type: 'integer', description: 'Attempts that the next news has failed; 10 at most.' },
  waiting: { type: 'integer', description: `News that wait to be sent; at most ${maxCountedNews} are counted.` },
})
