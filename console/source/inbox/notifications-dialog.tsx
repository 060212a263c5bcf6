import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { Dialog } from '../parts/dialog.tsx'
import { hasRole, membership } from '../state/session.ts'
import { askForNotifications, hasSound, permission, showsNotifications, sound } from './notifications.ts'
import { WebhookSetting } from './webhook.tsx'

const reasons: Partial<Record<ReturnType<typeof permission>, string>> = {
  denied: 'The browser does not permit them to this page. Its settings for the page change that.',
  unsupported: 'The browser has none for this page: it needs an address with https.',
}

/** Asks how this browser announces news of the inbox. */
export function NotificationsDialog({ onClose }: { onClose: () => void }): JSX.Element {
  const [allowed, setAllowed] = useState(permission())
  const change = async (isOn: boolean) => {
    if (isOn) await askForNotifications()
    else showsNotifications.value = false
    setAllowed(permission())
  }
  return (
    <Dialog title="Notifications" onClose={onClose}>
      <div class="dialog-text">
        <p class="quiet">
          A conversation waits, is assigned to you, or its user has written. These choices are of this browser; they
          work while the inbox is open in a tab.
        </p>
        <label class="check">
          <input
            type="checkbox"
            checked={hasSound.value}
            onChange={({ currentTarget }) => {
              hasSound.value = currentTarget.checked
              if (!hasSound.value) return
              sound.prepare()
              sound.play()
            }}
          />
          Play a sound
        </label>
        <label class="check">
          <input
            type="checkbox"
            checked={showsNotifications.value && allowed === 'granted'}
            disabled={reasons[allowed] !== undefined}
            onChange={({ currentTarget }) => void change(currentTarget.checked)}
          />
          Show notifications of the browser
        </label>
        {reasons[allowed] && <p class="quiet">{reasons[allowed]}</p>}
        {membership.value && hasRole('administrator') && <WebhookSetting />}
      </div>
    </Dialog>
  )
}
