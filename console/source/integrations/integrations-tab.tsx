import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { TabProps } from '../bot/tab.ts'
import { Empty, Loaded } from '../parts/loaded.tsx'
import { Icon } from '../parts/icons.tsx'
import { useAnswer } from '../state/resource.ts'
import { mayChange } from '../state/session.ts'
import { ChooseDialog } from './choose-dialog.tsx'
import type { Available } from './find-integrations.ts'
import { Installed } from './installed.tsx'
import { SettingsDialog } from './settings-form.tsx'

/** The bot's installations with the results of their last registrations, and the means to add and change them. */
export function IntegrationsTab({ bot, reloadBot }: TabProps): JSX.Element {
  const installations = useAnswer<'listBotInstallations'>(`/bots/${bot.id}/installations`, { every: 10_000 })
  const [isChoosing, setIsChoosing] = useState(false)
  const [chosen, setChosen] = useState<Available>()
  const reload = () => {
    reloadBot()
    installations.reload()
  }
  const choose = (integration: Available) => {
    setIsChoosing(false)
    setChosen(integration)
  }
  return (
    <section aria-label="Integrations" class="installations">
      {mayChange.value && (
        <p class="toolbar">
          <button type="button" class="button primary" onClick={() => setIsChoosing(true)}>
            <Icon name="plus" />
            Install an integration
          </button>
        </p>
      )}
      <Loaded of={installations}>
        {({ installations }) => (
          <>
            {installations.map((installation) => (
              <Installed key={installation.id} bot={bot} installation={installation} onChanged={reload} />
            ))}
            {installations.length < 2 && (
              <Empty title="No other integrations">
                <p>
                  The workspace’s own are uploaded with <code>isobot deploy</code> or <code>bp deploy</code>.
                </p>
              </Empty>
            )}
            {isChoosing && (
              <ChooseDialog
                installedBuiltIns={installations.filter(isBuiltIn).map(({ name }) => name)}
                onChoose={choose}
                onClose={() => setIsChoosing(false)}
              />
            )}
          </>
        )}
      </Loaded>
      {chosen && (
        <SettingsDialog
          bot={bot}
          integration={chosen}
          alias={freeAlias(chosen.name, Object.keys(bot.integrations))}
          onSaved={reload}
          onClose={() => setChosen(undefined)}
        />
      )}
    </section>
  )
}

const isBuiltIn = ({ integrationId }: { integrationId?: string }) => integrationId === undefined

/** The integration's name, with a number where the bot has an installation of that name. */
function freeAlias(name: string, taken: string[]): string {
  for (let number = 2, alias = name; ; number++) {
    if (!taken.includes(alias)) return alias
    alias = `${name}-${number}`
  }
}
