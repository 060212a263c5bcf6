import type { ComponentChildren, JSX } from 'preact'
import { explain, Failure } from '../api/ask.ts'
import type { Resource } from '../state/resource.ts'
import { Icon, type IconName } from './icons.tsx'

interface LoadedProps<Data> {
  of: Resource<Data>
  /** The number of placeholder lines while loading. */
  lines?: number
  children: (data: Data) => ComponentChildren
}

/** Loaded data, or a placeholder before it; a failed reload shows its error above the previous data. */
export function Loaded<Data>({ of: { data, error, reload }, lines = 4, children }: LoadedProps<Data>): JSX.Element {
  return (
    <>
      {error !== undefined && <Refusal error={error} reload={reload} isOfResource />}
      {data !== undefined ? children(data) : error === undefined && <Skeleton lines={lines} />}
    </>
  )
}

interface RefusalProps {
  error: unknown
  reload?: () => void
  /** Whether it is the error of a resource, which is requested again where the server was not reached. */
  isOfResource?: boolean
}

export function Refusal({ error, reload, isOfResource = false }: RefusalProps): JSX.Element {
  const isRetried = isOfResource && error instanceof Failure && error.status === 0
  return (
    <div class="refusal" role="alert">
      <Icon name="alert" />
      <span>
        {explain(error)}
        {isRetried && ' This page keeps retrying.'}
      </span>
      {reload && (
        <button type="button" class="button small" onClick={reload}>
          Try again
        </button>
      )}
    </div>
  )
}

export function Skeleton({ lines }: { lines: number }): JSX.Element {
  return (
    <div class="skeleton" role="status" aria-label="Loading">
      {Array.from({ length: lines }, (_, index) => (
        <div key={index} />
      ))}
    </div>
  )
}

interface EmptyProps {
  icon?: IconName
  title: string
  /** Whether it is the only content of the page, so that its heading is the page's title. */
  isPage?: boolean
  children?: ComponentChildren
}

/** The message of an empty list, with the action that would fill it. */
export function Empty(props: EmptyProps): JSX.Element {
  return (
    <div class="empty">
      <Icon name={props.icon ?? 'empty'} />
      {props.isPage ? <h1>{props.title}</h1> : <h2>{props.title}</h2>}
      {props.children && <div>{props.children}</div>}
    </div>
  )
}
