import type { BotContext } from '../rpc/caller.ts'
import type { File } from '../models/file.ts'

/** The key of the file in which older published clients keep the models of a bot; some write `undefined` as its id. */
const preferencesKey = /^bot->[^>]*->models\.config\.json$/

/** Whether a file has the key of the preferences of models. */
export function isModelPreferences(key: string): boolean {
  return preferencesKey.test(key)
}

/**
 * The file from which older published clients read the models behind `best` and `fast`, with those of the platform as its
 * content. It exists in no store, so it changes with the operator's settings; writes of that key have no effect on it.
 *
 * @param key for which `isModelPreferences`
 * @returns undefined where no provider is set, and for integrations
 */
export function modelPreferences({ models, caller }: BotContext, key: string): File | undefined {
  const { botId, installation } = caller
  if (installation || models.providers.length === 0) return undefined
  const namesOf = (model: string) => models.choose({ model, messages: [] }).candidates.map(({ id }) => id)
  const content = JSON.stringify({ best: namesOf('best'), fast: namesOf('fast'), downtimes: [] })
  const startOfDay = `${new Date().toISOString().slice(0, 10)}T00:00:00.000Z`
  return {
    id: key,
    botId,
    key,
    url: `data:application/json;base64,${Buffer.from(content).toString('base64')}`,
    size: Buffer.byteLength(content),
    contentType: 'application/json',
    tags: {},
    metadata: {},
    createdAt: startOfDay,
    updatedAt: startOfDay,
    accessPolicies: [],
    index: false,
    status: 'upload_completed',
    owner: { type: 'bot', id: botId },
  }
}
