import { effect, signal } from '@preact/signals'

export const themes = ['system', 'light', 'dark'] as const
export type Theme = (typeof themes)[number]

const storedAs = 'isobot.theme'
const darkSystem = matchMedia('(prefers-color-scheme: dark)')

const stored = localStorage.getItem(storedAs)
export const theme = signal<Theme>(themes.find((one) => one === stored) ?? 'system')
const systemIsDark = signal(darkSystem.matches)
darkSystem.addEventListener('change', ({ matches }) => (systemIsDark.value = matches))

/** Whether the page has the dark theme, for content that style sheets do not draw. */
export const isDark = signal(false)

effect(() => {
  const chosen = theme.value
  isDark.value = chosen === 'system' ? systemIsDark.value : chosen === 'dark'
  if (chosen === 'system') {
    localStorage.removeItem(storedAs)
    delete document.documentElement.dataset.theme
  } else {
    localStorage.setItem(storedAs, chosen)
    document.documentElement.dataset.theme = chosen
  }
})
