import type { HostedProvider, ModelProvider, ModelsSettings } from '../config/models-settings.ts'

/** A workspace's own keys, by the names of hosted providers. */
export type OwnKeys = Partial<Record<HostedProvider, string>>

/**
 * The settings with a workspace's own keys. They take the place of the operator's, and come first in the order of
 * preference; models that the operator has chosen for an alias remain.
 */
export function withOwnKeys(settings: ModelsSettings, keys: OwnKeys): ModelsSettings {
  const own = settings.hosted.flatMap((provider): ModelProvider[] => {
    const key = keys[provider.name as HostedProvider]
    return key === undefined ? [] : [{ ...provider, key, isOwn: true }]
  })
  const others = settings.providers.filter(({ name }) => !own.some((each) => each.name === name))
  return { ...settings, providers: [...own, ...others] }
}
