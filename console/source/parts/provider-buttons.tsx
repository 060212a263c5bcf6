import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { askSession, explain } from '../api/ask.ts'
import { ActionButton } from './action-button.tsx'

interface ProviderButtonsProps {
  /** Before the name of the provider. */
  label: string
  /** The secret of an invitation that the person follows. */
  invitation?: string
  onProblem: (problem: string) => void
}

/** One button for each OpenID provider of the platform; none without a provider. */
export function ProviderButtons({ label, invitation, onProblem }: ProviderButtonsProps): JSX.Element | null {
  const [providers, setProviders] = useState<{ name: string }[]>([])
  const [isBusy, setIsBusy] = useState(false)
  useEffect(() => {
    // Without an answer the field for a token is there, and says what is wrong.
    askSession<{ providers: { name: string }[] }>('GET', '/providers').then(
      (answer) => setProviders(answer.providers),
      () => undefined,
    )
  }, [])

  const begin = async () => {
    setIsBusy(true)
    try {
      const { url } = await askSession<{ url: string }>('POST', '/sign-in', invitation)
      location.assign(url)
    } catch (error) {
      onProblem(explain(error))
      setIsBusy(false)
    }
  }

  if (providers.length === 0) return null
  return (
    <>
      {providers.map(({ name }) => (
        <ActionButton key={name} isInactive={isBusy} onClick={() => void begin()}>
          {label} {name}
        </ActionButton>
      ))}
    </>
  )
}
