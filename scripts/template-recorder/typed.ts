import { items } from './literals.ts';
import type { Random } from './random.ts';

/** Expressions over the Go type Garage (garage.go). */
export const values =
  items(`.Name¦.Labels¦.Labels.env¦.Labels.nope¦.Meta¦.Meta.Name¦.Owner¦.Owner.Name¦.Owner.Age¦.Owner.Friend.Name¦
.Owner.Friend.Friend¦.Owner.Friend.Friend.Name¦.Owner.GetFriend.GetFriend.GetName¦.Owner.GetFriend.Name¦.Cars¦
(index .Cars 0)¦(index .Cars 0).Color¦(index .Cars 1).Wheels¦(index .Cars 1).Price¦(index .Cars 0).Price¦
(index .Cars 0).Fast¦(index .Cars 0).Part¦(index .Cars 0).Wheels¦(index .Cars 0).Doors¦
(index (index .Cars 0).Wheels 1).Size¦(index .Cars 1).Driver.Name¦.Spare¦.Notes¦.Notes.a¦.Notes.zzz¦
(index .Notes "zzz")¦.Values¦.Values.y.z¦.Values.nil¦.Values.nil.x¦.Stock¦.Stock.wheel¦.Any¦.Any.k¦.List¦
(index .List 1)¦.Open¦.Rating¦.Floors¦.Number¦.Size¦.Tags¦(index .Tags 0)¦.People¦.People.ada¦.People.ada.Name¦
.People.eve¦.People.eve.Name¦.Address¦.Address.Street¦.Address.String¦.Extra¦.Extra.Zip¦.Nothing¦.Name.x¦
.Floors.y¦.¦(.Owner.Greet "hi" 2)¦(.Owner.Join "a" "b")¦.Owner.Join¦.Owner.Fail¦(.Owner.Greet "x")¦
(.Owner.Greet 1 2)¦(.Owner.Name "x")¦(.Notes.a 1)¦(.Owner.Friend.Friend.Greet "hey" 1)¦
.Owner.Friend.Friend.Join¦(index .Cars 0).Color.String¦("b" | .Owner.Join "a")¦(index .Cars 7)¦
(index .Stock "wheel")`);

export const functions =
  items(`print¦toJson¦toYaml¦printf "%v"¦printf "%+v"¦printf "%s"¦printf "%d"¦printf "%q"¦printf "%T"¦printf "%x"¦
printf "%#v"¦len¦not¦kindOf¦typeOf¦empty¦default "d"¦quote¦toString¦html¦eq 4¦eq "door"¦eq nil¦lt 2¦int¦int64¦
float64¦join "+"¦list¦structToJSON¦first¦last¦rest¦reverse¦uniq¦has "old"¦sortAlpha¦deepCopy¦trunc 2¦upper¦
toJSON¦isset .Notes¦mergeMaps¦omit¦valueOrDefault "v"¦squote¦cat "x"¦toStrings¦compact¦toPrettyJson¦index .Tags¦
add 1¦slice¦ternary 1 2¦append .Tags¦hasKey .Values¦get .Values¦repeat 2¦until¦deepEqual 3¦coalesce nil`);

/** Returns a short template over the Go type Garage. */
export function typedTemplates(random: Random): string {
  const value = random.pick(values);
  switch (random.below(9)) {
    case 0:
      return `{{ ${value} }}`;
    case 1:
      if (value.endsWith('.Color')) return `{{ ${value} }}`;
      return `{{ range $k, $v := ${value} }}{{ $k }}={{ ${random.pick(['$v', '$v.Name', '.', 'print $v', '$v.Make'])} }};{{ else }}none{{ end }}`;
    case 2:
      return `{{ with ${value} }}[{{ . }}]{{ else }}none{{ end }}`;
    case 3:
      return `{{ if ${value} }}T{{ else }}F{{ end }}{{ $x := ${random.pick(values)} }}{{ $x }}`;
    case 4:
      return `{{ eq ${value} ${random.pick(values)} }}`;
    case 5:
      return `{{ printf "%v|%+v" ${value} (${random.pick(['print', 'toJson', 'kindOf'])} ${random.pick(values)}) }}`;
    default:
      return `{{ ${value} | ${random.pick(functions)} }}`;
  }
}
