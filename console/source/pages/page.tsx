import type { ComponentChildren, JSX } from 'preact'
import { useEffect } from 'preact/hooks'

interface PageProps {
  title: string
  /** A sentence below the title. */
  about?: ComponentChildren
  /** The page's actions, at the right of the title. */
  actions?: ComponentChildren
  children: ComponentChildren
}

/** A page with its title, which is also the title of the window. */
export function Page({ title, about, actions, children }: PageProps): JSX.Element {
  useEffect(() => {
    document.title = `${title} · Isobot`
  }, [title])
  return (
    <div class="page">
      <header class="page-header">
        <div>
          <h1>{title}</h1>
          {about && <p>{about}</p>}
        </div>
        {actions && <div class="actions">{actions}</div>}
      </header>
      {children}
    </div>
  )
}
