import type { Random } from '../template-recorder/random.ts';
import { Expressions } from './expressions.ts';
import { podTemplate } from './template-parts.ts';
import { TemplateSlots } from './template-slots.ts';

/** A template in which something depends on the author of a pod. */
export function randomTemplate(random: Random): string {
  for (;;) {
    const expressions = new Expressions(random);
    const opening = random.chance(0.2) ? prelude(random, expressions) : '';
    const slots = new TemplateSlots(random, expressions, random.pick([0.3, 0.5]));
    const template = podTemplate(slots, opening);
    if (slots.hot > 0) return template;
  }
}

/** Variables that hold what an author wrote, in one of several ways. */
function prelude(random: Random, expressions: Expressions): string {
  const condition = expressions.of('bool', 1);
  const text = expressions.of('text', 1);
  const lines = random.pick([
    `{{- $x := ${text} }}`,
    `{{- $x := "own" }}{{- if ${condition} }}{{ $x = ${text} }}{{ end }}`,
    `{{- $x := "own" }}{{- range $k, $v := $.ObjectMeta.Annotations }}{{ if eq $k "example.com/a" }}{{ $x = $v }}{{ break }}{{ end }}{{ end }}`,
    `{{- $x := "own" }}{{- range $k, $v := $.ObjectMeta.Labels }}{{ if ne $k "team" }}{{ continue }}{{ end }}{{ $x = $v }}{{ end }}`,
    `{{- $d := dict }}{{- $_ := set $d "k" ${text} }}{{- $x := get $d "k" }}`,
    `{{- $d := dict "k" "own" }}{{- if ${condition} }}{{ $_ := unset $d "k" }}{{ end }}{{- $x := get $d "k" }}`,
    `{{- $x := "own" }}{{- with ${text} }}{{ $x = . }}{{ end }}`,
    `{{- $x := "" }}{{- range $i, $e := ${expressions.of('list', 1)} }}{{ $x = print $x $e }}{{ end }}`,
  ]);
  if (random.chance(0.2)) return `{{- if ${condition} }}{{ fail ${text} }}{{ end }}\n`;
  expressions.scope.variables.push({ name: '$x', kind: 'text' });
  return `${lines}\n`;
}
