import { effect, signal, type Signal } from '@preact/signals'

/** A choice of this browser that is off until it is made, kept beyond the page under `name`. */
export function storedFlag(name: string): Signal<boolean> {
  const flag = signal(localStorage.getItem(name) === 'on')
  effect(() => {
    if (flag.value) localStorage.setItem(name, 'on')
    else localStorage.removeItem(name)
  })
  return flag
}
