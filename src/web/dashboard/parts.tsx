import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

/** A wide element that scrolls in its own box, also by keyboard. */
export function Scrolled({ label, children }: { readonly label: string; readonly children: ComponentChildren }) {
  return (
    <div class="scrolled" role="region" aria-label={label} tabIndex={0}>
      {children}
    </div>
  );
}

interface Counts {
  readonly current: number;
  readonly stale: number;
  readonly missing: number;
}

/** Counts of pods; a state without pods is omitted, except current. */
export function PodNumbers({ current, stale, missing }: Counts) {
  return (
    <span class="counts">
      <span>{current} current</span>
      {stale > 0 && <span class="warning">{stale} stale</span>}
      {missing > 0 && <span class="refused">{missing} missing</span>}
    </span>
  );
}

interface Part {
  readonly kind: string;
  readonly count: number;
}

/** A bar whose parts show counts; the text beside it says the same. */
export function Bar({ total, parts }: { readonly total: number; readonly parts: readonly Part[] }) {
  return (
    <div class="bar" aria-hidden="true">
      {parts.map(({ kind, count }) => (
        <div key={kind} class={`part-${kind}`} style={{ width: `${total === 0 ? 0 : (100 * count) / total}%` }} />
      ))}
    </div>
  );
}

interface DialogProps {
  readonly title: string;
  readonly close: () => void;
  readonly children: ComponentChildren;
}

/** A box above the page; Escape and its button close it. */
export function Dialog({ title, close, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} aria-labelledby="title-dialog" onClose={close}>
      <div class="dialog-head">
        <h2 id="title-dialog">{title}</h2>
        <button type="button" onClick={() => dialog.current?.close()}>
          Close
        </button>
      </div>
      {children}
    </dialog>
  );
}

/** A text of a command, in which commands stand between backticks. */
export function Quoting({ text }: { readonly text: string }) {
  return <>{text.split('`').map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part))}</>;
}

/** Remarks, each a paragraph. */
export function Notes({ notes }: { readonly notes: readonly string[] }) {
  return (
    <>
      {notes.map((note) => (
        <p key={note} class="note">
          <Quoting text={note} />
        </p>
      ))}
    </>
  );
}

/** A command, with a button that copies it. */
export function CopiedCommand({ text }: { readonly text: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
  };
  return (
    <div class="command">
      <code>{text}</code>
      <button type="button" aria-label={`Copy the command ${text}`} onClick={() => void copy().catch(() => undefined)}>
        {isCopied ? 'Copied' : 'Copy'}
      </button>
    </div>
  );
}

/** Returns the time, again after each interval in milliseconds. */
export function useNow(interval: number): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), interval);
    return () => clearInterval(timer);
  }, [interval]);
  return now;
}
