"""The words of a wallet without a name: twelve or more of the list of BIP-39 in a row."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from leafward.base.late_pattern import late
from leafward.redaction.spans import SecretKind, words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from leafward.redaction.spans import Span

_RUN = late(
    r"(?<![A-Za-z])[a-z]{3,8}+(?:(?:[\s,]|\\{1,7}n|[0-9]{1,2}[.):]){1,12}+[a-z]{3,8}+(?![A-Za-z])){11,}+"
)
"""Short words in a row, also numbered or below each other."""
_WORD = late(r"(?<![A-Za-z])[a-z]{3,8}(?![A-Za-z])|(?<=\\n)[a-z]{3,8}")
_SHORTEST, _LONGEST = 12, 30
"""Words of a phrase: 24 at most, and words of the list may stand beside it."""
LEAST_SELDOM = 3
"""Words that prose seldom has: of a phrase they are two in three."""


def phrases_in(text: str) -> Iterator[Span]:
    """The phrases of a text. Longer runs, and words of one letter in the order of the alphabet, are lists of words."""
    if len(SELDOM.intersection(text.split())) < LEAST_SELDOM:
        return
    for run in _RUN.finditer(text):
        every = _WORD.finditer(text, *run.span())
        for listed, found in groupby(every, key=lambda word: word[0] in SELDOM or word[0] in _OFTEN):
            phrase = list(found)
            said = [word[0] for word in phrase]
            if (
                listed
                and _SHORTEST <= len(said) <= _LONGEST
                and (said[0][0] != said[-1][0] or said != sorted(said))
                and sum(word in SELDOM for word in said) >= LEAST_SELDOM
            ):
                yield phrase[0].start(), phrase[-1].end(), SecretKind.WALLET_PHRASE


SELDOM = words(
    """
abandon ability absorb abstract absurd abuse accident accuse achieve acid acoustic acquire act actor actress adapt addict admit
adult advance advice aerobic affair afford afraid aim airport aisle alarm album alcohol alien alley alpha alter amateur amazing
amount amused analyst anchor ancient anger angry animal ankle annual antenna antique anxiety apart apology apple approve april
arctic arena argue arm armed armor army arrange arrest art artefact artist artwork aspect assault asthma athlete atom attack
attend attitude attract auction august aunt autumn average avocado awake aware awesome awful awkward axis baby bachelor bacon
bag balcony ball bamboo banana banner bargain basket battle beach bean beauty beef behave believe belt bench betray bicycle bid
bike biology bird birth bitter blade blame blanket bleak bless blind blood blossom blouse blur blush boat boil bomb bone bonus
book boost boring borrow boss bounce boy bracket brain brass brave bread breeze brick bridge brisk broccoli bronze broom brother
brown brush bubble buddy buffalo bulb bunker burden burger bus busy butter buyer buzz cabbage cabin cable cactus cage cake calm
camera camp canal candy cannon canoe canvas canyon captain car carbon carpet cart cash casino castle catalog cattle caution cave
ceiling celery cement census century cereal chair champion chaos chapter charge chase cheese chef cherry chest chicken chief
chimney chronic chuckle cigar cinnamon circle citizen city civil claw clay clerk clever client cliff climb clinic clip clock
clog cloth clown club clump cluster clutch coach coast coconut coffee coil coin combine comfort comic company concert conduct
congress convince cook cool copper coral corn cost cotton couch country couple course cousin coyote crack cradle craft cram
crane crater crawl crazy cream credit creek crew cricket crime crisp critic crop cross crouch crowd crucial cruel cruise crumble
crunch crush cry culture cup cupboard curtain curve cushion cute dad damp dance danger daring daughter dawn deal debate debris
decade december decline decorate decrease deer defense defy degree delay deliver demise denial dentist depart deposit deputy
desert desk despair destroy develop device devote diagram dial diamond diary dice diesel diet digital dignity dilemma dinner
dinosaur dirt disagree disease dish dismiss disorder distance divert divorce dizzy doctor dog doll dolphin donate donkey donor
door dose dove dragon drama drastic dream dress drift drill drink drip drive drop drum dry duck dune dust dutch duty dwarf eager
eagle earn earth east ecology economy educate eight elbow elder electric elegant elephant elevator elite embark embody embrace
emerge emotion employ empower enact endless endorse enemy energy enforce engage enhance enjoy enlist enrich enroll envelope
episode equip era erase erode erosion erupt essay essence estate eternal ethics evidence evil evoke evolve excess excite excuse
exercise exhaust exhibit exile exotic express eyebrow fabric face faculty fade faint faith fame famous fan fancy fantasy farm
fashion fat father fatigue fault favorite february federal fee feed female fence festival fever fiber fiction film finger firm
fiscal fitness flame flash flavor flee flight flip float flock floor flower fluid fly foam fog foil fold food foot forest forget
fortune forum fossil foster fox friend fringe frog frost frown frozen fruit fuel funny furnace fury gadget gain galaxy gallery
garage garden garlic garment gas gasp gather gauge gaze genius genre genuine gesture giant gift giggle ginger giraffe girl glad
glance glare glass glide glimpse globe gloom glory glove glow glue goat goddess gold goose gorilla gospel gossip govern gown
grab grace grain grant grape grass gravity grief grit grocery grow grunt guilt guitar gun gym habit hair half hammer hamster
happy harbor harsh harvest hat hawk hazard heart heavy hedgehog helmet hen hill hip hire hobby hockey hole holiday hollow honey
hood horn horror horse hospital hotel hub humble humor hundred hungry hunt hurdle hurry hurt husband hybrid ice ill illegal
illness imitate immense immune impose impulse inch income indoor industry infant inflict inhale inject injury inmate innocent
inquiry insane insect inspire interest invest invite iron island ivory jacket jaguar jar jazz jealous jeans jelly jewel joke
journey joy judge juice jungle junior junk kangaroo keen ketchup kick kid kidney kingdom kiss kit kitchen kite kitten kiwi knee
knife knock lab labor ladder lady lake lamp laptop latin laugh laundry lava law lawn lawsuit leader learn lecture leg legal
legend leisure lemon lend lens leopard lesson liar liberty lift limb lion liquid lizard loan lobster lonely lottery lounge love
loyal lucky luggage lumber lunar lunch luxury lyrics mad magic magnet maid mail mammal man mandate mango mansion maple marble
march marine market marriage mass material maze meadow measure meat mechanic medal melody melt menu mercy merit merry mesh metal
milk million mimic mind minute miracle mirror misery mistake mix mixture mom monitor monkey monster moon moral morning mosquito
mother motion motor mountain mouse movie muffin mule multiply muscle museum mushroom music mutual myself mystery myth naive
napkin nasty nation neck negative neglect nephew nerve net neutral night noble nominee noodle north nose notable novel nuclear
nurse nut oak obey oblige obscure observe obtain ocean october odor office oil okay olympic onion online opera opinion oppose
orange orbit orchard organ orient ostrich outdoor oval oven owner oxygen oyster ozone pact paddle palace palm panda panther
paper parade park parrot party patient patrol pave payment peace peanut pear peasant pelican pen penalty pencil pepper perfect
person pet phone photo phrase physical piano picnic pig pigeon pill pilot pink pioneer pistol pitch pizza planet plastic plate
play pledge pluck plug plunge poem poet polar pole police pond pony post potato pottery poverty powder power practice predict
price pride prison prize profit promote proof prosper protect proud pudding pulp pulse pumpkin punch pupil puppy purchase purity
purpose purse puzzle pyramid quantum quarter quiz rabbit raccoon rack radar radio rail rain raise rally ranch rare raven razor
rebel recipe recycle reform region regret reject relax remind renew rent reopen repair repeat rescue resemble retire retreat
reunion reward rhythm rib ribbon rice ride ridge rifle rigid riot ripple ritual rival river road roast robot rocket romance roof
rookie rose rotate rough round royal rubber rude rug runway rural sad saddle sadness sail salad salmon salon salt salute sand
satoshi sauce sausage scare scatter scheme school science scissors scorpion scout scrap screen scrub sea season seat secret seed
seek sell seminar series settle shaft shallow shed sheriff shield shine ship shiver shock shoe shoot shop shoulder shove shrimp
shrug shuffle sick siege sight silk silly silver sing siren sister situate skate sketch ski skin skirt skull slam slender slim
slogan slot slush smart smile smoke smooth snack snake sniff snow soap soccer social sock soda soft solar soldier song sorry
soul sound soup south spare spatial speak spell spend sphere spice spider spike spirit spoil sponsor spoon sport spray spread
spring spy square squeeze squirrel stadium stairs stamp stand steak steel stem stereo stick sting stock stomach stone stool
story stove street strike strong struggle student stumble subway sudden suffer sugar suit summer sun sunny sunset super supreme
surge surprise surround suspect sustain swamp swarm swear sweet swift swim swing sword symptom syrup table talent tank tape
taste tattoo taxi team ten tenant tennis tent thank thrive thumb thunder ticket tide tiger tilt timber tired tissue toast
tobacco toddler toe toilet tomato tomorrow tone tongue tonight tooth topic topple torch tornado tortoise toss tourist town toy
trade traffic tragic train transfer trap trash travel tray trend trial tribe trick trip trophy trouble truck trumpet trust tube
tuition tumble tuna tunnel turkey turtle twelve twenty twin twist ugly umbrella unaware uncle uncover undo unfair unfold unhappy
uniform universe unlock unusual unveil uphold upper upset urban urge useless vacant vacuum vague valley valve van vanish vapor
vast vault vehicle velvet vendor venture venue verb vessel veteran viable vicious victory video village vintage violin virus
visa visit vital vocal voice volcano volume vote voyage wage wagon walnut warfare warrior wash wasp waste water wave wealth
weapon wear weasel weather wedding weekend weird west wet whale wheat wheel whip whisper wife wild wine wing wink winner winter
wisdom wise witness wolf woman wood wool worry wreck wrestle wrist yard year young youth zebra zone zoo
"""
)
"""Those that a session of an agent seldom holds as a word: a phrase has at least one of them, and most texts have none."""
_OFTEN = words(
    """
able about above absent access account across action actual add address adjust again age agent agree ahead air alert all allow
almost alone already also always among angle announce another answer any appear arch area around arrive arrow ask asset assist
assume audit author auto avoid away badge balance bar barely barrel base basic because become before begin behind below benefit
best better between beyond bind black blast blue board body border bottom box brand brief bright bring broken budget build bulk
bullet bundle burst business call can cancel capable capital card cargo carry case casual cat catch category caught cause
certain chalk change chat cheap check child choice choose chunk churn claim clap clarify clean click close cloud code collect
color column come common confirm connect consider control copy core correct cover crash crystal cube curious current custom
cycle damage dash day decide define demand deny depend depth derive describe design detail detect differ direct discover display
divide document domain double draft draw dumb during dynamic early easily easy echo edge edit effort egg either element else
empty enable end engine enough ensure enter entire entry equal error escape exact example exchange exclude execute exist exit
expand expect expire explain expose extend extra eye fall false family fatal feature feel fetch few field figure file filter
final find fine finish fire first fish fit fix flag flat flush focus follow force fork forward found fragile frame frequent
fresh front fun future game gap garbage gate general gentle ghost give good great green grid group guard guess guide hand hard
have head health height hello help hero hidden high hint history hold home hope host hour hover huge human icon idea identify
idle ignore image impact improve include increase index indicate inform inherit initial inner input inside install intact into
involve isolate issue item job join jump just keep key kind know label language large later layer lazy leaf leave left length
letter level library license life light like limit link list little live load local lock logic long loop loud machine main major
make manage manual margin mask master match math matrix matter maximum mean media member memory mention merge message method
middle midnight minimum minor miss mixed mobile model modify moment month more move much must name narrow nature near need
neither nest network never news next nice noise normal note nothing notice now number object obvious occur off offer often old
olive omit once one only open option order ordinary original orphan other outer output outside over own page pair panel panic
parent pass patch path pattern pause people permit picture piece pipe place please point pool popular portion position possible
praise prefer prepare present pretty prevent primary print priority private problem process produce program project property
provide public pull push put quality question quick quit quote race ramp random range rapid rate rather raw ready real reason
rebuild recall receive record reduce reflect refuse regular release relief rely remain remember remove render replace report
require resist resource response result return reveal review rich right ring risk robust room route rule run safe same sample
satisfy save say scale scan scene script search second section security segment select senior sense sentence service session
setup seven shadow share shell shift short shy sibling side sign silent similar simple since six size skill slab sleep slice
slide slight slow small snap solid solution solve someone soon sort source space spawn special speed spin split spot stable
staff stage start state stay step still strategy stuff style subject submit success such suggest supply sure surface survey
swallow swap switch symbol system tackle tag tail talk target task teach tell term test text that theme then theory there they
thing this thought three throw time tiny tip title today together token tool top total toward tower track treat tree trigger
trim true truly truth try turn twice two type typical unable under unique unit unknown until update upgrade upon usage use used
useful usual utility valid various verify version very vibrant view virtual visual vivid void wait walk wall want warm way web
welcome what when where wide width will win window wire wish wonder word work world worth wrap write wrong yellow you zero
"""
)
