import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { yaml } from '@codemirror/lang-yaml';
import { bracketMatching, HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { type Diagnostic, lintGutter, lintKeymap, setDiagnostics } from '@codemirror/lint';
import { EditorState, type Text } from '@codemirror/state';
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { useEffect, useRef } from 'preact/hooks';
import type { Problem, Side } from '../engine/evaluate.ts';

/** A request to show a place; a new object shows it again. */
export interface TextPlace {
  readonly line: number;
  readonly column: number;
}

interface EditorProps {
  readonly side: Side;
  readonly label: string;
  /** The text at the begin. Later texts come from the editor; another key replaces the editor. */
  readonly text: string;
  /** The problems of all editors; a new list replaces the marks. */
  readonly problems: readonly Problem[];
  readonly place: TextPlace | undefined;
  readonly onChange: (text: string) => void;
}

const highlighting = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: 'var(--key)' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--string)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--number)' },
  { tag: tags.comment, color: 'var(--muted)' },
  { tag: [tags.meta, tags.labelName, tags.typeName], color: 'var(--number)' },
]);

const theme = EditorView.theme({
  '&': { height: '100%', backgroundColor: 'var(--field)', color: 'var(--text)' },
  '&.cm-focused': { outline: '2px solid var(--accent)', outlineOffset: '-2px' },
  '.cm-scroller': { fontFamily: 'ui-monospace, monospace', fontSize: '13px', lineHeight: '1.5' },
  '.cm-content': { caretColor: 'var(--text)' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-gutters': { backgroundColor: 'var(--page)', color: 'var(--muted)', borderRight: '1px solid var(--line)' },
  '.cm-activeLine': { backgroundColor: 'transparent' },
  '&.cm-focused .cm-activeLine': { backgroundColor: 'var(--active)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'var(--selection)',
  },
  '.cm-tooltip': { backgroundColor: 'var(--page)', color: 'var(--text)', border: '1px solid var(--line)' },
  '.cm-diagnostic': { whiteSpace: 'pre-wrap', maxWidth: '60ch' },
});

/** The Tab key leaves the editor, so that users of a keyboard can pass it. */
const extensions = (label: string, onChange: (text: string) => void) => [
  lineNumbers(),
  lintGutter(),
  history(),
  drawSelection(),
  bracketMatching(),
  highlightActiveLine(),
  yaml(),
  syntaxHighlighting(highlighting),
  keymap.of([...defaultKeymap, ...historyKeymap, ...lintKeymap]),
  EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
  EditorView.updateListener.of(({ docChanged, state }) => {
    if (docChanged) onChange(state.doc.toString());
  }),
  theme,
];

/** A YAML editor that marks problems at their lines. */
export function Editor({ side, label, text, problems, place, onChange }: EditorProps) {
  const home = useRef<HTMLDivElement>(null);
  const editor = useRef<EditorView>();
  useEffect(() => {
    if (home.current === null) return;
    // Styles of a shadow root are objects, which the security policy allows; others are elements.
    const root = home.current.attachShadow({ mode: 'open' });
    const state = EditorState.create({ doc: text, extensions: extensions(label, onChange) });
    const view = new EditorView({ state, root, parent: root });
    editor.current = view;
    return () => view.destroy();
  }, []);
  useEffect(() => {
    const { current: view } = editor;
    if (view === undefined) return;
    const own = problems.filter((problem) => problem.side === side);
    const { doc } = view.state;
    view.dispatch(
      setDiagnostics(
        view.state,
        own.map((problem) => diagnosticOf(doc, problem)),
      ),
    );
  }, [problems]);
  useEffect(() => {
    const { current: view } = editor;
    if (view === undefined || place === undefined) return;
    view.dispatch({ selection: { anchor: offsetOf(view.state.doc, place) }, scrollIntoView: true });
    view.focus();
  }, [place]);
  return <div class="editor" ref={home} />;
}

function offsetOf(text: Text, { line, column }: TextPlace): number {
  const found = text.line(Math.min(Math.max(line, 1), text.lines));
  return Math.min(found.from + column - 1, found.to);
}

const severities = { error: 'error', warning: 'warning', note: 'info' } as const;

function diagnosticOf(text: Text, { level, message, ...place }: Problem): Diagnostic {
  const from = offsetOf(text, place);
  return { from, to: text.lineAt(from).to, severity: severities[level], message };
}
