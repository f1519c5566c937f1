"""The closed lists by which `said_values` and `said_subjects` read what people say: one row per meaning, any language.

Nothing is decided here. A word that is missing makes that a correction is not found, never that one is invented.
"""

from collections.abc import Iterator


def each_word(rows: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Every word of the rows with the meaning of its row."""
    yield from ((word, meaning) for meaning, words in rows.items() for word in words.split())


CURRENCIES = {
    "usd": "$ us$ usd dollar dollars bucks 美元",
    "eur": "€ eur euro euros 欧元 ユーロ",
    "gbp": "£ gbp pound pounds quid",
    "yen": "jpy yen 円 日元",
    "cny": "cny rmb yuan 元 块 块钱 人民币",
    "chf": "chf francs franken",
    "¥": "¥",
}
COUNTS = {
    "0": "zero",
    "1": "one a an",
    "2": "two",
    "3": "three",
    "4": "four",
    "5": "five",
    "6": "six",
    "7": "seven",
    "8": "eight",
    "9": "nine",
    "10": "ten",
    "11": "eleven",
    "12": "twelve",
    "13": "thirteen",
    "14": "fourteen",
    "15": "fifteen",
    "16": "sixteen",
    "17": "seventeen",
    "18": "eighteen",
    "19": "nineteen",
    "20": "twenty",
    "30": "thirty",
    "40": "forty",
    "50": "fifty",
    "60": "sixty",
    "70": "seventy",
    "80": "eighty",
    "90": "ninety",
}
SCALES = {"hundred": 100, "thousand": 1_000, "million": 1_000_000}
SCALE_SIGNS = {
    "k": 1_000,
    "m": 1_000_000,
    "thousand": 1_000,
    "million": 1_000_000,
    "百": 100,
    "千": 1_000,
    "万": 10_000,
}
"""Between an amount in figures and its currency."""
MONTHS = {
    "01": "January Jan Januar",
    "02": "February Feb Februar",
    "03": "March Mar März",
    "04": "April Apr",
    "05": "May Mai",
    "06": "June Jun Juni",
    "07": "July Jul Juli",
    "08": "August Aug",
    "09": "September Sep Sept",
    "10": "October Oct Oktober Okt",
    "11": "November Nov",
    "12": "December Dec Dezember Dez",
}
WEEKDAYS = {
    "mon": "Monday Montag 周一 星期一 月曜日",
    "tue": "Tuesday Dienstag 周二 星期二 火曜日",
    "wed": "Wednesday Mittwoch 周三 星期三 水曜日",
    "thu": "Thursday Donnerstag 周四 星期四 木曜日",
    "fri": "Friday Freitag 周五 星期五 金曜日",
    "sat": "Saturday Samstag 周六 星期六 土曜日",
    "sun": "Sunday Sonntag 周日 周天 星期日 星期天 日曜日",
}
ZONES = {
    "utc": "utc gmt zulu 世界标准时间 協定世界時 世界時",
    "pacific": "pacific pst pdt los_angeles 太平洋时间",
    "mountain": "mountain mst mdt denver",
    "central": "central cst cdt chicago",
    "eastern": "eastern est edt new_york 东部时间",
    "central european": "cet cest berlin paris vienna madrid rome amsterdam zurich",
    "london": "london bst",
    "beijing": "beijing shanghai china 北京时间",
    "tokyo": "tokyo japan jst 日本時間 东京时间",
    "local": "local 当地时间 本地时间 現地時間",
}
SECONDS = {
    "1": "s sec secs second seconds 秒",
    "60": "min mins minute minutes 分 分钟",
    "3600": "h hour hours 小时 時間",
    "86400": "day days 天 日間",
    "604800": "week weeks 周 週間",
}
FINE_UNITS = "% percent kb mb gb tb kib mib gib km m cm kg g l ghz mhz rps k px pt x"
"""Of anything else there is no half: "Python 3.11 only" tells a version."""

NO_UNITS = """
    and or of to in on at by for from is are was were the a an with per if then than as when but so that am pm st nd rd
    th now not no it we you they i und oder am im bis von der die das ist sind
"""
UNIT_SYSTEMS = {
    "metric": """
        metric kilometre kilometres kilometer kilometers centimetres centimeters celsius kilograms litres liters
        metrisch metrische metrischen 公制 公里 摄氏 メートル法
    """,
    "imperial": """
        imperial miles fahrenheit inches gallons imperiale imperialen 英制 英里 华氏 ヤード・ポンド法
    """,
}
MANNERS = {
    "short": """
        short shorter brief briefer concise succinct compact crisp pithy briefly concisely succinctly tersely kurz knapp
        简短 简洁 简明 短め 短く 簡潔 手短
    """,
    "short dry": "terse laconic curt",
    "long": """
        long longer detailed thorough elaborate verbose comprehensive exhaustive lengthy wordy expansive in-
        depth thoroughly
        ausführlich lang 详细 详尽 詳しく 詳細 丁寧
    """,
    "long warm": "chatty talkative",
    "dry": """
        formal serious sober dry neutral professional businesslike strict matter-of-fact factual reserved stern formally
        förmlich sachlich 正式 严肃 专业 フォーマル 真面目
    """,
    "warm": """
        playful warm friendly casual informal humorous funny light lighthearted light-hearted cheerful relaxed
        conversational whimsical witty jokey playfully casually informally locker freundlich
        轻松 幽默 活泼 亲切 カジュアル フレンドリー
    """,
    "simple": "simple plain non-technical nontechnical layman einfach 通俗",
    "technical": "technical expert-level technisch 技术性",
    "listed": "bulleted bullets bullet-point",
    "flowing": "prose flowing",
}
"""How answers are. "Terse" is short and dry at once, so both "detailed" and "playful" take its place."""

OPPOSITES = {
    "short": "long",
    "long": "short",
    "dry": "warm",
    "warm": "dry",
    "simple": "technical",
    "technical": "simple",
    "listed": "flowing",
    "flowing": "listed",
}
LANGUAGES = """
    English German French Spanish Italian Portuguese Dutch Russian Ukrainian Japanese Chinese Korean Turkish
    Arabic Hindi Swedish Danish Finnish Norwegian Czech Deutsch Englisch Französisch Spanisch Italienisch Japanisch
    Chinesisch
"""
SURNAMES = (
    "王李张刘陈杨黄赵吴周徐孙马朱胡林郭何高罗郑梁谢宋唐许韩冯邓曹彭曾肖田董袁潘蒋蔡余杜叶程苏魏吕丁任沈姚卢姜崔"
    "钟谭陆汪范廖贾夏韦方邹孟熊秦邱江尹薛闫段雷侯龙陶黎贺顾毛郝龚邵钱严"
)
NO_NAMES = """
    a all also american an and any api april are as ask august bank be before beijing blue british but by call can cc
    central church city code company constraint contact correction das daylight december dem den der design die do
    docs does dr eastern ein eine email english fact february for france friday from german give goal good google
    great green hard he hello hi high hire his home hotel how i if in invite is it january japan july june just keep
    lake let list local london make march may meet mein meine memory message microsoft monday mountain my never new
    next no north not note november now october of office on our pacific page park pay ping please preference product
    production project release remind report road rule safety saturday school see send september server set she shop
    south speak standard state station street summer sunday support system talk tell test thank thanks that the then
    there they this thursday time to tokyo tuesday united university unser unsere update use user visit we wednesday
    week west when where who why will with you your zone
"""
"""Words with capitals that are no part of a person's name."""

HEADS = {
    "limit": """
        budget budgets spend spends spending cost costs expense expenses expenditure ceiling cap capped limit limited
        limits maximum max allowance quota price fee obergrenze kosten ausgaben grenze
        预算 上限 额度 费用 花费 开支 限制 予算 費用 制限
    """,
    "floor": "minimum min floor",
    "date": """
        date deadline due timing target schedule scheduled termin frist stichtag
        日期 截止 期限 时间点 日程 締め切り 締切
    """,
    "name": """
        codename codenamed label labelled labeled call calls calling called name names named designate designated
        designation title titled nickname alias heisst heissen 代号 名称 名字 叫做 コードネーム 名前
    """,
    "owner": """
        owner owners own owns owning lead leads leader manager responsible charge belong belongs handle handles handling
        负责人 责任人 担当 担当者 責任者
    """,
    "approver": "approver approve approves approval signoff",
    "reviewer": "reviewer review reviews",
    "code": """
        code passcode password passphrase pin key secret token credential 密码 口令 暗号 パスワード 暗証番号
    """,
    "branch": "branch branches base based rebase rebased 分支 ブランチ",
    "version": "version 版本 バージョン",
    "reply": """
        answer answers reply replies response responses responding replying answering tone style voice
        antwort antworten antworte 回答 回复 答复 语气 返事 返信 応答 口調
    """,
    "time": """
        time times timestamp timestamps clock clocks hour hours zeit zeiten uhrzeit uhrzeiten 时间 時刻 時間
    """,
    "unit": """
        unit units measurement measurements measure measures system einheit einheiten 单位 単位
    """,
}
"""What has a value."""

TOPICS = {
    "launch": """
        launch launches launching launched release releases releasing released ship ships shipping shipped
        golive rollout
        veröffentlichung 上线 发布 发版 リリース 公開
    """,
    "duty": "oncall pager duty support escalation escalations bereitschaft 值班 当番 オンコール",
    "trip": "trip trips travel journey reise 差旅 旅行 出張",
    "project": "project effort undertaking projekt 项目 プロジェクト",
    "docs": "docs doc documentation manual handbook doku dokumentation 文档 資料",
    "production": "production prod live produktion 生产 本番",
    "disclose": "disclose discloses reveal reveals share shared expose leak",
    "develop": "development develop developing entwicklung 开发 開発",
    "leave": "leave leaves leaving departure depart departs abfahrt 出发 出発",
    "fly": "fly flies flight flights flying flug 航班",
    "retain": "retention retain retained",
    "internal": "internal internally",
    "deploy": "deploy deploys deployment deployments deployed",
    "doctor": "doctor physician gp arzt ärztin",
    "meeting": "meeting appointment besprechung 会议 会議 打ち合わせ",
    "a day": "day days daily",
    "a week": "week weeks weekly",
    "a month": "month months monthly",
    "a year": "year years yearly annual annually",
}
"""Of what it is the value, where everyday words say it in several ways."""

IDLE = """
    everything anything current currently official officially whole entire every each all any always please stay stays
    staying keep keeps keeping kept put puts get gets getting got give gives given set sets setting make makes making
    made take takes taking taken have has having go goes going went run runs running ran come comes coming stick
    sticks show shows shown display displays use uses used using report reports reporting want wants wanted like likes
    would rather prefer prefers preferred need needs needed decide decides decided agree agreed let lets must should
    shall may might can could will below under above over exceed beyond within at than onto into from until through
    today tomorrow tonight night quarter update updated updates fyi note reminder remember correction actually sorry
    wait ok okay now new newly old older previous previously former formerly earlier later anymore longer instead
    effective starting beginning soon already still only just also again once change changes changed changing move
    moves moved moving switch switches switched switching raise raised raises lower lowered reduce reduced increase
    increased increases drop dropped bump bumped rename renames renamed replace replaces replaced rotate rotates
    rotated rotation retire retired upgrade upgraded downgrade downgraded migrate migrated postpone postponed
    reschedule rescheduled rebook rebooked slip slipped delay delayed push pushed bring brought shift shifted revise
    revised active actively happen happens work works working land lands landing lie sit sits park parked plan plans
    planned planning continue continues mean means say says said write writes writing tell tells speak die der das den
    dem des ein eine einen ist sind war wurde wird werden auf am im in ab bei liegt beträgt jetzt nun künftig sofort
    bitte immer nur noch nicht mehr statt neu neue neuer neues neuen verschoben geändert umbenannt mit von zu zum zur
    und oder für sich kostet wir uns unser unsere extend extended extends stretch stretched widen cut trim shorten
    shortened start starts started begin begins began see seen look looks hear talk talks talking good hi hello
"""
"""What is said around every value, whatever it is the value of."""

ALSO_NOUNS = """
    bump change drop land park plan push report review run say shift show slip speak switch update user work write
"""
"""Of the words above those that say which one is meant in front of a noun: the write timeout, the report deadline."""

OWNERS = {"mine": "my mine our ours", "yours": "your yours", "his": "his", "hers": "her hers", "theirs": "their theirs"}

STOP = """
    dr mr mrs ms prof a about after an and are as be been before being but by do does did doing each for he her his
    how i i'd i'll i'm i've if in is it its it's me my no not never of on one or our ours please she so some such than
    that that's the their them then there these they this those to too upon us very was we were what when where which
    while who whose with without you your yours let's we'll we've we're there's can't won't don't doesn't didn't isn't
    least most more less far done ready
"""
