/**
 * Words of code and of talk about code that are one token each, whatever character precedes them. They
 * keep a bound close to the count on ordinary texts; a word that is missing only makes it looser.
 */
export const commonWords: ReadonlySet<string> = new Set(
  `
  abc about above absolute access account Action action actions Active active actual Actually actually Add
  add Added added Adding adding Additional additional address adds admin After after again agent agents
  ahead alert ALL All all allow allowed allows Already already Also also Always always AM an analysis AND
  And and another answer answers Any any anything API api app append application apply Approx approx
  architecture archive Are are area aren Args args argument arguments around array article as ask asked
  asking asks assert assistant async at augment auth authentication Author author Auto auto available avoid
  aware back backend Background background bad badge Base base based bash Basic basic batch be because been
  Before before behind being below bench Best best better between bin binary blank blob Block block blocks
  board body book bool boot Both both bound box branch branches break bridge broken browser buffer bug bugs
  Build build Builder building built bundle But but Button button by byte bytes Cache cache cached calendar
  call callback called caller calling calls camera CAN Can can cancel candidate cannot capture Card card
  cart Case case cases cat catch category cause Cell cell cfg chain Change change Changed changed Changes
  changes changing channel char character characters chars chart chat Check check checked checking checkout
  checkpoint Checks checks child choice chunk CI class Clean clean Cleanup cleanup Clear clear CLI cli
  Client client clock Close close closing cloud cluster Cmd cmd cobra Code code coding collect color Column
  column com combined comes Command command commands comment comments Commit commit common comparison
  Compile complete completed completion complex Component component components compress compressed condition
  Config config configuration configured confirm confirmation connect connection Consider consider
  consistent console const constant constants contain contained container Contains contains Content content
  Contents contents Context context continue control Controller controller conversation conversion convert
  copies Copy copy core correct cost Could could Count count counter counts cover coverage covers Create
  create Created created creates creating creation credentials critical cross CSS ctx Current current
  currently Cursor cursor custom customer cut cwd cycle dashboard Data data database Date date Day day DB db
  debug decode def Default default defaults define defined defines Delete delete Deleted deleted delta
  dependencies dependency deploy Description description design detail details Detect detect dev dialog did
  diff difference different digest DIR Dir dir direct directory Disable disable disabled disk display DNS do
  doc docker Docs docs document Does does doing DOM domain Don don Done done double download draft driver
  due duplicate duplicates duration during Each each early easy echo edge Edit edit edited editing editor
  Effect effect either elapsed elements else Email email emit Empty empty Enable enable Enabled enabled
  Encode encode encoding End end ended endpoint ends engine Ensure ensure Entries entries Entry entry enum
  env Environment environment EOF Equal Err err ERROR Error error errors especially etc even Event event
  events every exact Example example Examples examples exchange exclude excluding exec execute execution
  executor Exist exist existing Exists exists Exit exit expand expect Expected expected expects expire
  expired expires explicit export extension extra Extract extract fab Factory factory FAIL fail Failed
  failed fails Failure failure Fall fall fallback falls false fast Fatal fatal feature features feed
  feedback few Field field fields File file filename filepath Files files filesystem Filter filter filtered
  filters Final final Find find finding fine First first Fix fix fixed fixture flag flags flow fmt focus
  focused Folder folder folders Follow follow font Footer footer For for force fork Form form Format format
  forward Found found four Frame frame framework free fresh From from Full full fully func function
  Functions functions future game gateway Generate generate generated generator generic GET Get get gets
  getting git github give given Glob global go going Good good got graph grep grid Group group guard guide
  had Handle handle handled Handler handler handlers handles handling hard Has has Hash hash have having
  HEAD Head head Header header headers heap hello help Helper helper helpers Here here hex hidden high hint
  history holds home Hook hook Hooks hooks host hours How how HTML html HTTP http https Hub human Icon icon
  ID id idea identified identify identity if ignore ignored Image image images Implement implement
  Implementation implementation implemented implements import important imports in Include include included
  includes including incorrect Index index individual INFO Info info information Init init Initial initial
  Initialize inline Input input insert inside inspect Install install installation installed instance
  Instead instead instructions Int int Integration integration intent interactive interface interfaces
  internal into invalid IO IP is issue issues it Item item items iterate its job Join join JS js JSON json
  Just just Keep keep keeping Key key keys kind know knowledge known Label label lambda language large Last
  last later latest layer Layout layout leaf least ledger Left left Len len length less Let let Level level
  lib library license like limit Line line Lines lines Link link linked links lint linux List list listed
  lists literal live Load load loaded loader loading loads Local local location lock Log log logged logger
  logging logic login logo logs long Look look Looking looking looks loop low Lower machine made Main main
  Make make makes making Manager manager manifest Manual manual many Map map mapping maps Mark mark markdown
  marker Marshal marshal mask master Match match matches matching matter Max max may maybe MD md mean means
  media member memory mention mentioned Menu menu merge Message message Messages messages Metadata metadata
  method metrics mid middleware might migration min minimal minor mise Missing missing MIT mobile mock mod
  Modal modal Mode mode Model model models Modified modified modify module modules monitor month more most
  mount Move move msg much multi Multiple multiple must Name name named names native necessary need needed
  needs nested network Never never New new newline Next next nice nil no Node node nodes Non non none normal
  NOT Not not NOTE Note note notes nothing notice Now now null number numbers Object object of off offer
  offset OK old older omit on Once once One one ones Only only Open open operation operations opt Option
  option Optional optional Options options opus or order origin original OS Other other otherwise our out
  Output output outputs outside over override Overview overview overwrite own Package package packages Page
  page pages pair Panel panel panic parallel param parameter params parent Parents Parse parse Parser parser
  Part part partial parts PASS pass passed passes passing password past patch PATH Path path paths Pattern
  pattern payload payment PDF peak pending Per per percent permission permissions person phase pick picture
  pin pipeline pkg place placeholder Plain plain Plan plan planning platform player Please please plugin
  plus PM png point points policy pool port position possible POST Post post potential PR Pre pre Prefer
  prefer Prefix prefix prepare present prevent Preview preview previous price primary print prior private
  problem Process process produce product production profile progress Project project projects Prompt prompt
  proper property protocol Provide provide provided Provider provider proxy public pull Push push PUT py
  Python python quality Query query question questions Queue queue quick ran random range ranges rank rather
  Raw raw react Read read Reader reader reading README reads ready real really Reason reason Reasons recent
  recommended record redis reduce Ref ref Reference reference References references refs register registry
  regular related release remain remaining remote Remove remove Removed removed Rename rename render Repeat
  repeat Replace replace Repo repo Report report reports repos Repository repository Request request
  requests require required requires Reset reset Resolve resolve resolved resource respond Response response
  responses rest restart restore Result result Results results Resume resume retry Return return returned
  Returns returns reuse rev Review review rewrite right risk Role role Root root round Route route Router
  router routes Row row rows rs rule rules Run run runner Running running runs runtime safe said same sample
  Save save saved say scan scenario schema Scope scope score screen Script script scripts SDK search Second
  second secret section sections security See see seed segment select selected selection self sender sense
  sent sequence serial Server server Service service services Session session Sessions sessions Set set sets
  setting Settings settings Setup SHA sha shadow share shell Short short Should Show show side sign signal
  signed simple Since since Single single site Size size skills Skip skip slice small snapshot so socket
  solution solve some something sort Source source Space space spaces span specific specified Split split
  SQL sql src stack Stage stage standard Start start started starting starts stat State state states static
  stats Status status stay stderr stdin stdout Step step steps Still still Stop stop storage Store store
  stored stores Strategy strategy Stream stream streams strict String string Strings strings struct
  structure structured style styles Submit submit success such suggest suite sum Summary summary support
  sure switch symbol sync syntax system Table table tag tags tail takes taking Target target Task task tasks
  team tell Temp temp template temporary terminal TEST Test test Testing testing Tests tests Text text than
  That that The the them theme Then then There there These these They they thing things think thinking This
  this those though Thought thread threads Three three through Time time times timestamp title tmp to todo
  Token token Tokens tokens too Tool tool tools top topic Total total trace track tracked tracker tracking
  tracks train transaction Transcript transfer transform transition translate transparent treated Tree tree
  Trigger trigger Trim true Try try trying TS ts turn Two two txt Type type types UI undefined under
  unexpected unique unit units unknown unless until unused up Update update Updated updated updates Updating
  upload URI URL Url url us Usage usage Use use Used used User user Users users Uses uses using utility
  Utils utils valid Validate validate validation validator Value value values var variable variables vector
  vendor Verification verification verified Verify verify version versions very via video View view viewer
  views visible vite Wait wait Want want WARN Warning warning warnings was watch way we web week well were
  weren What what When when Whenever where whether which While while whole whose Why why widget will window
  wire With with within Without without won Work work worker workers Workflow workflow Working working Works
  works workspace worth would wrapper Write write Writer writer writes writing written wrong XML year Yes
  yes yet You you Your your zero zone
`
    .trim()
    .split(/\s+/),
);
